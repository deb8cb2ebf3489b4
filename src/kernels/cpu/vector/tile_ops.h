// The loops that elementwise programs are made of.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/cpu/vector/elementwise.h"

namespace wherry::cpu {

// out[i] = op(x[i], y[i]; a, b) for i < n. y may be null where the operator has one operand, and both for a constant.
// out may be x or y.
using TileOp = void (*)(const float* x, const float* y, float* out, int64_t n, float a, float b);

// By ElementwiseOp, for the active instruction set.
const std::array<TileOp, kElementwiseOps>& TileOps();

}  // namespace wherry::cpu
