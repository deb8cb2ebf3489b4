// Broadcast loops over tensors, in whatever layout they are.
#pragma once

#include <span>

#include "core/dense_tensor.h"
#include "kernels/cpu/vector/elementwise.h"

namespace wherry::cpu {

// The loops of an elementwise operator whose inputs broadcast to `out` along their logical axes.
BroadcastLoops LoopsOver(const TensorMeta& out, std::span<const TensorMeta> inputs);

}  // namespace wherry::cpu
