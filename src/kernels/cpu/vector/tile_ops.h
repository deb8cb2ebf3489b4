// The loops that elementwise programs are made of.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/cpu/vector/elementwise.h"

namespace wherry::cpu {

// out[i] = op(x[i], y[i]; a, b) for i < n. y may be null where the operator has one operand, and both for a constant.
// out may be x or y.
using TileOp = void (*)(const float* x, const float* y, float* out, int64_t n, float a, float b);

// By ElementwiseOp. Those of uniform operands read one float of x or of y, for all i, and are there for the operators
// of two operands.
struct TileOpTable {
  std::array<TileOp, kElementwiseOps> ops;
  std::array<TileOp, kBinaryElementwiseOps> uniform_x;
  std::array<TileOp, kBinaryElementwiseOps> uniform_y;
};

// For the active instruction set.
const TileOpTable& TileOps();

}  // namespace wherry::cpu
