// Broadcast loops over tensors, in whatever layout they are.
#pragma once

#include <array>
#include <span>

#include "core/dense_tensor.h"
#include "kernels/cpu/vector/elementwise.h"
#include "kernels/cpu/vector/typed_ops.h"

namespace wherry::cpu {

// Elements from one step along each logical axis of a tensor to the next.
using AxisStrides = std::array<int64_t, Shape::kMaxRank>;
AxisStrides StridesOf(const TensorMeta& meta);

// `strides` must outlive the view, as must the shape.
StridedDims View(const Shape& shape, const AxisStrides& strides);

// A shape seen around one axis: element (o, a, i) lies at (o * extent + a) * inner + i.
struct AxisRun {
  int64_t outer = 1;
  int64_t extent = 1;
  int64_t inner = 1;
};
// A negative axis counts from the end. A scalar has one axis of 1.
AxisRun RunAlong(const Shape& shape, int64_t axis);

// The loops of an elementwise operator whose inputs broadcast to `out` along their logical axes.
BroadcastLoops LoopsOver(const TensorMeta& out, std::span<const TensorMeta> inputs);

// out = tile(inputs), which broadcast to it; at most three.
void RunTyped(TypedTile tile, std::span<const DenseTensor* const> inputs, DenseTensor* out, ThreadPool* pool);

}  // namespace wherry::cpu
