// Positions that tensors hold.
#pragma once

#include <cstdint>

#include "base/check.h"
#include "core/dense_tensor.h"

namespace wherry::ref {

// Element i of an i32 or i64 tensor.
inline int64_t IndexAt(const DenseTensor& index, int64_t i) {
  return index.dtype() == DataType::kInt32 ? int64_t{index.data<int32_t>()[i]} : index.data<int64_t>()[i];
}

// The same as a position among `extent`: negative ones count from the end. One outside is Error(kOutOfRange).
inline int64_t PositionAt(const DenseTensor& index, int64_t i, int64_t extent) {
  const int64_t given = IndexAt(index, i);
  const int64_t position = given < 0 ? given + extent : given;
  WHERRY_ENFORCE(position >= 0 && position < extent, kOutOfRange, "index ", given, " lies outside ", extent,
                 " elements of x");
  return position;
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
