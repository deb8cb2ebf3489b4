// Host tensors of a model: small ones that importers make, and those that lie in its files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
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
// A tensor of these bytes, meta.nbytes() of them, which lie in `file`. It shares them where the elements may be read in
// place; unaligned ones are copied when they are first read (Buffer::Deferred), bools, which a file may have as any
// number, at once. Never to be written to.
// Precondition: no strings.
DenseTensor TensorOfBytes(const TensorMeta& meta, std::span<const std::byte> data, const FileBytes& file);

}  // namespace wherry
