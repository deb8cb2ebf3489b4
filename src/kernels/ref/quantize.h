// Between numbers and the integers that stand for them, one element at a time; what every kernel of these operators
// computes, bit by bit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/dense_tensor.h"
#include "kernels/ref/element.h"

namespace wherry::ref {

// steps rounded to the nearest, ties to even, cut to [low - zero, high - zero], plus zero; the least for NaN.
inline int32_t ToStep(float steps, int32_t zero, int32_t low, int32_t high) {
  const float least = static_cast<float>(low - zero);
  const float most = static_cast<float>(high - zero);
  const float cut = std::min(steps > least ? steps : least, most);
  return static_cast<int32_t>(std::nearbyintf(cut)) + zero;
}

// The only element of a zero point; 0 if there is none. T: of its tensor.
inline int32_t ZeroOf(const DenseTensor* zero, int64_t i = 0) {
  if (zero == nullptr) return 0;
  if (zero->numel() == 1) i = 0;
  switch (zero->dtype()) {
    case DataType::kInt8: return zero->data<int8_t>()[i];
    case DataType::kUInt8: return zero->data<uint8_t>()[i];
    case DataType::kInt16: return zero->data<int16_t>()[i];
    case DataType::kUInt16: return zero->data<uint16_t>()[i];
    default: return zero->data<int32_t>()[i];
  }
}

}  // namespace wherry::ref
