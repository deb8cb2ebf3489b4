#include "kernels/cpu/tensor_loops.h"

#include <array>

namespace wherry::cpu {
namespace {

using Strides = std::array<int64_t, Shape::kMaxRank>;

// Elements from one step along each logical axis to the next.
Strides StridesOf(const TensorMeta& meta) {
  const Shape& shape = meta.shape;
  Strides strides{};
  int64_t next = 1;
  const bool channels_last = meta.layout == DataLayout::kNHWC && shape.rank() >= 2;
  if (channels_last) {
    strides[1] = 1;
    next = meta.effective_pixel_stride();
  }
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    if (channels_last && axis == 1) continue;
    strides[static_cast<size_t>(axis)] = next;
    next *= shape[axis];
  }
  return strides;
}

StridedDims View(const TensorMeta& meta, const Strides& strides) {
  const size_t rank = static_cast<size_t>(meta.shape.rank());
  return {{meta.shape.begin(), rank}, {strides.data(), rank}};
}

}  // namespace

BroadcastLoops LoopsOver(const TensorMeta& out, std::span<const TensorMeta> inputs) {
  std::array<Strides, BroadcastLoops::kMaxInputs> strides;
  std::array<StridedDims, BroadcastLoops::kMaxInputs> views;
  for (size_t i = 0; i < inputs.size(); ++i) {
    strides[i] = StridesOf(inputs[i]);
    views[i] = View(inputs[i], strides[i]);
  }
  const Strides out_strides = StridesOf(out);
  return BroadcastLoops(View(out, out_strides), {views.data(), inputs.size()});
}

}  // namespace wherry::cpu
