// Python's slices and arange over known numbers, shared by InferMeta functions and kernels.
#pragma once

#include <cstdint>

#include "wherry/scalar.h"

namespace wherry {

struct SliceRange {
  int64_t start = 0;  // of the first element, where count > 0
  int64_t step = 1;
  int64_t count = 0;
};
// x[start:end:step] over `extent` elements: negative positions count from the end, positions beyond the ends are cut
// off. step is not 0 and not INT64_MIN.
SliceRange ResolveSlice(int64_t extent, int64_t start, int64_t end, int64_t step);

// max(ceil((end - start) / step), 0), exact for integers. Error(kInvalidArgument) for a step of 0 or a NaN,
// Error(kOutOfRange) for more than 2^40 elements.
int64_t ArangeCount(const Scalar& start, const Scalar& end, const Scalar& step);
// start + i * step as an integer: in 64 bits that wrap, or rounded towards zero where one of them is a float.
int64_t ArangeElement(const Scalar& start, const Scalar& step, int64_t i);

}  // namespace wherry
