#include "kernels/cpu/tensor_loops.h"

#include "base/check.h"
#include "kernels/cpu/vector/broadcast_tiles.h"

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

AxisRun RunAlong(const Shape& shape, int64_t axis) {
  if (shape.empty()) return {};
  const int at = static_cast<int>(axis < 0 ? axis + shape.rank() : axis);
  WHERRY_CHECK(at >= 0 && at < shape.rank(), "axis ", axis, " of ", shape.DebugString());
  return {shape.numel(0, at), shape[at], shape.numel(at + 1, shape.rank())};
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

void RunTyped(TypedTile tile, std::span<const DenseTensor* const> inputs, DenseTensor* out, ThreadPool* pool) {
  std::array<TileInput, 3> tensors;
  WHERRY_CHECK(inputs.size() <= tensors.size(), inputs.size(), " inputs of a loop that has at most three");
  bool plain = out->meta().is_plain();
  for (size_t i = 0; i < inputs.size(); ++i) {
    tensors[i] = {inputs[i]->raw_data(), SizeOf(inputs[i]->dtype())};
    plain = plain && inputs[i]->meta().is_plain() && inputs[i]->numel() == out->numel();
  }
  const size_t out_size = SizeOf(out->dtype());
  char* const to = static_cast<char*>(out->mutable_raw_data());
  if (plain) {
    // One run. Making loops for it took longer than the few elements that shapes have.
    constexpr int64_t kMinElements = 32768;  // as of tiles
    ParallelFor(pool, out->numel(), kMinElements, [&](int64_t begin, int64_t end) {
      std::array<const void*, 3> from{};
      for (size_t i = 0; i < inputs.size(); ++i) {
        from[i] = static_cast<const char*>(tensors[i].data) + static_cast<size_t>(begin) * tensors[i].size;
      }
      tile(from[0], from[1], from[2], to + static_cast<size_t>(begin) * out_size, end - begin);
    });
    return;
  }
  std::array<TensorMeta, 3> metas;
  for (size_t i = 0; i < inputs.size(); ++i) metas[i] = inputs[i]->meta();
  const BroadcastLoops loops = LoopsOver(out->meta(), {metas.data(), inputs.size()});
  const size_t count = inputs.size();
  BroadcastTiles(loops, {tensors.data(), count}, to, out_size, UniformInputs::kRepeated)
      .Run(pool, [tile, count](const BroadcastTiles::Inputs& at, void* part, int64_t n) {
        tile(at[0], count > 1 ? at[1] : nullptr, count > 2 ? at[2] : nullptr, part, n);
      });
}

}  // namespace wherry::cpu
