// Tensors for tests: random by seed, with the end of their memory guarded.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/case.h"
#include "core/dense_tensor.h"

namespace wherry::conformance {

// Host memory whose last byte is followed by a page that must not be touched: reading or writing past the end is a
// crash. Its start is aligned to the element only, as a user's memory may be.
std::shared_ptr<Buffer> GuardedBuffer(size_t bytes, size_t element_size);

// A plain tensor with the case's values, or random ones in its range: by default [-1, 1] for floats, [-9, 9] or [0, 9]
// for integers. Equal seeds give equal tensors.
DenseTensor MakeTensor(const CaseTensor& spec, uint64_t seed);

// The same numbers as `dtype`, in guarded memory of their own, in the given layout; kNHWC with `pixel_padding` elements
// after each pixel.
DenseTensor ConvertTensor(const DenseTensor& tensor, DataType dtype, DataLayout layout, int64_t pixel_padding = 0);

// Every element, in logical order, as a double. Exact for all types but 64-bit integers beyond 2^53.
std::vector<double> ToDoubles(const DenseTensor& tensor);

// Puts NaN, infinities, zeros of both signs and huge numbers over some elements of a floating tensor.
void InjectSpecialValues(DenseTensor* tensor, uint64_t seed);

}  // namespace wherry::conformance
