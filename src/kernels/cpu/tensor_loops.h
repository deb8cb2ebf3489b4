// Broadcast loops over tensors, in whatever layout they are.
#pragma once

#include <array>
#include <span>

#include "core/dense_tensor.h"
#include "kernels/cpu/vector/elementwise.h"

namespace wherry::cpu {

// Elements from one step along each logical axis of a tensor to the next.
using AxisStrides = std::array<int64_t, Shape::kMaxRank>;
AxisStrides StridesOf(const TensorMeta& meta);

// `strides` must outlive the view, as must the shape.
StridedDims View(const Shape& shape, const AxisStrides& strides);

// The loops of an elementwise operator whose inputs broadcast to `out` along their logical axes.
BroadcastLoops LoopsOver(const TensorMeta& out, std::span<const TensorMeta> inputs);

}  // namespace wherry::cpu
