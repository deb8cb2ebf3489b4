// Walking over tensors in plain (row-major) order: strides, broadcasting, axes.
#pragma once

#include <array>
#include <cstdint>

#include "base/check.h"
#include "core/dense_tensor.h"
#include "wherry/types.h"

namespace wherry::ref {

using Strides = std::array<int64_t, Shape::kMaxRank>;

// Row-major strides in elements.
inline Strides RowMajorStrides(const Shape& shape) {
  Strides strides{};
  int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[static_cast<size_t>(i)] = stride;
    stride *= shape[i];
  }
  return strides;
}

// Strides, one for each axis of `out`, of a tensor of shape `shape` that broadcasts to `out`: 0 where it is repeated.
inline Strides BroadcastStrides(const Shape& shape, const Shape& out) {
  const Strides own = RowMajorStrides(shape);
  Strides strides{};
  WHERRY_CHECK(shape.rank() <= out.rank(), "shape ", shape.DebugString(), " has a higher rank than ",
               out.DebugString());
  const int lead = out.rank() - shape.rank();
  for (int i = 0; i < shape.rank(); ++i) {
    const int axis = lead + i;
    WHERRY_CHECK(shape[i] == out[axis] || shape[i] == 1, "shape ", shape.DebugString(), " does not broadcast to ",
                 out.DebugString());
    strides[static_cast<size_t>(axis)] = shape[i] == 1 ? 0 : own[static_cast<size_t>(i)];
  }
  return strides;
}

// Counts through a shape in row-major order and keeps N offsets up to date, each with its own strides.
template <size_t N>
class Odometer {
 public:
  Odometer(const Shape& shape, const std::array<Strides, N>& strides) : shape_(shape), strides_(strides) {}

  int64_t offset(size_t i) const { return offsets_[i]; }
  int64_t position(int axis) const { return position_[static_cast<size_t>(axis)]; }
  void Next() {
    for (int axis = shape_.rank() - 1; axis >= 0; --axis) {
      const size_t a = static_cast<size_t>(axis);
      ++position_[a];
      for (size_t i = 0; i < N; ++i) offsets_[i] += strides_[i][a];
      if (position_[a] < shape_[axis]) return;
      for (size_t i = 0; i < N; ++i) offsets_[i] -= strides_[i][a] * shape_[axis];
      position_[a] = 0;
    }
  }

 private:
  Shape shape_;
  std::array<Strides, N> strides_;
  std::array<int64_t, Shape::kMaxRank> position_{};
  std::array<int64_t, N> offsets_{};
};

// A shape seen around one axis: element (o, a, i) lies at (o * extent + a) * inner + i.
struct AxisView {
  int64_t outer = 1;
  int64_t extent = 1;
  int64_t inner = 1;
};
// A negative axis counts from the end. A scalar has one axis of 1.
inline AxisView ViewAxis(const Shape& shape, int64_t axis) {
  if (shape.empty()) return {};
  const int at = static_cast<int>(axis < 0 ? axis + shape.rank() : axis);
  WHERRY_CHECK(at >= 0 && at < shape.rank(), "axis ", axis, " of ", shape.DebugString());
  return {shape.numel(0, at), shape[at], shape.numel(at + 1, shape.rank())};
}

}  // namespace wherry::ref
