// Small host tensors that importers make.
#pragma once

#include <cstdint>
#include <vector>

#include "core/dense_tensor.h"
#include "wherry/scalar.h"

namespace wherry {

// `value`, converted to `dtype` as cast does, in every element. Error(kUnsupported) for a type that is no bool, integer
// or float of at least 8 bits.
DenseTensor FilledTensor(const Shape& shape, const Scalar& value, DataType dtype);
// `values` in row-major order, converted to `dtype` likewise. Error(kInvalidArgument) unless there are shape.numel() of
// them.
DenseTensor TensorOfScalars(const Shape& shape, const std::vector<Scalar>& values, DataType dtype);
// i64[values.size()].
DenseTensor IntsTensor(const std::vector<int64_t>& values);

}  // namespace wherry
