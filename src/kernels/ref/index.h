// Positions that tensors hold.
#pragma once

#include <cstdint>

#include "core/dense_tensor.h"
#include "kernel/position.h"

namespace wherry::ref {

// Element i of an i32 or i64 tensor.
inline int64_t IndexAt(const DenseTensor& index, int64_t i) {
  return index.dtype() == DataType::kInt32 ? int64_t{index.data<int32_t>()[i]} : index.data<int64_t>()[i];
}

// The same as a position among `extent` (PositionOf).
inline int64_t PositionAt(const DenseTensor& index, int64_t i, int64_t extent) {
  return PositionOf(IndexAt(index, i), extent);
}

// Writes element i of an i32 or i64 tensor.
inline void SetIndex(DenseTensor* index, int64_t i, int64_t value) {
  if (index->dtype() == DataType::kInt32) {
    index->mutable_data<int32_t>()[i] = static_cast<int32_t>(value);
  } else {
    index->mutable_data<int64_t>()[i] = value;
  }
}

}  // namespace wherry::ref
