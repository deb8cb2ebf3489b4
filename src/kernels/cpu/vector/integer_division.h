// Quotients and remainders of integers, which no instruction set divides in vectors: by way of doubles.
#pragma once

#include <cstdint>

#include "kernels/cpu/vector/typed_ops.h"

namespace wherry::cpu {

enum class DivisionOp : uint8_t {
  kQuotient,        // truncated; the lowest number by -1 wraps
  kFloorQuotient,   // rounded down
  kRemainder,       // with the sign of x
  kFloorRemainder,  // with the sign of y
};
inline constexpr int kDivisionOps = 4;

// The loop for the active instruction set, for kInt32 and kInt64. It throws Error(kInvalidArgument) where y is 0.
TypedTile DivisionTileOf(DivisionOp op, DataType dtype);

}  // namespace wherry::cpu
