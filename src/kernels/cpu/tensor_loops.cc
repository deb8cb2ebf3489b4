#include "kernels/cpu/tensor_loops.h"

namespace wherry::cpu {

AxisStrides StridesOf(const TensorMeta& meta) {
  const Shape& shape = meta.shape;
  AxisStrides strides{};
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

StridedDims View(const Shape& shape, const AxisStrides& strides) {
  const size_t rank = static_cast<size_t>(shape.rank());
  return {{shape.begin(), rank}, {strides.data(), rank}};
}

BroadcastLoops LoopsOver(const TensorMeta& out, std::span<const TensorMeta> inputs) {
  std::array<AxisStrides, BroadcastLoops::kMaxInputs> strides;
  std::array<StridedDims, BroadcastLoops::kMaxInputs> views;
  for (size_t i = 0; i < inputs.size(); ++i) {
    strides[i] = StridesOf(inputs[i]);
    views[i] = View(inputs[i].shape, strides[i]);
  }
  const AxisStrides out_strides = StridesOf(out);
  return BroadcastLoops(View(out.shape, out_strides), {views.data(), inputs.size()});
}

}  // namespace wherry::cpu
