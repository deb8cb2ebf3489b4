// Operators that only move elements, of every type: transpose, shuffle_channel, layout, slice, expand, tile, concat,
// split.
#include <algorithm>
#include <array>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/element_types.h"
#include "kernels/cpu/movement/strided_copy.h"
#include "kernels/cpu/tensor_loops.h"
#include "op/infer/slice_range.h"

namespace wherry::cpu {
namespace {

// out[...] = from[...] over the shape, each with its strides.
template <typename T>
void Copy(const CpuContext& context, const Shape& shape, const T* from, const AxisStrides& from_strides, T* to,
          const AxisStrides& to_strides) {
  if (from == to) return;  // a piece that lies where it is to be (op/memory_piece.h)
  const StridedDims source = View(shape, from_strides);
  StridedCopy(BroadcastLoops(View(shape, to_strides), {&source, 1}), from, to, sizeof(T), context.pool());
}

size_t Index(int64_t axis, int rank) { return static_cast<size_t>(axis < 0 ? axis + rank : axis); }

template <typename T>
void Transpose(const CpuContext& context, const DenseTensor& x, const std::vector<int64_t>& perm, DenseTensor* out) {
  const int rank = x.shape().rank();
  const AxisStrides own = StridesOf(x.meta());
  AxisStrides strides{};
  for (int i = 0; i < rank; ++i) {
    const int64_t axis = perm.empty() ? rank - 1 - i : perm[static_cast<size_t>(i)];
    strides[static_cast<size_t>(i)] = own[Index(axis, rank)];
  }
  Copy(context, out->shape(), x.data<T>(), strides, out->mutable_data<T>(), StridesOf(out->meta()));
}

// Axis 1 as two, the groups and the channels of each, which change places.
template <typename T>
void ShuffleChannel(const CpuContext& context, const DenseTensor& x, int groups, DenseTensor* out) {
  if (out->numel() == 0) return;
  const int64_t each = x.shape()[1] / groups;
  Shape shape;
  AxisStrides from{};
  AxisStrides to{};
  const auto append = [&](int64_t dim, int64_t from_stride, int64_t to_stride) {
    from[static_cast<size_t>(shape.rank())] = from_stride;
    to[static_cast<size_t>(shape.rank())] = to_stride;
    shape.push_back(dim);
  };
  const AxisStrides own = StridesOf(x.meta());
  const AxisStrides result = StridesOf(out->meta());
  append(x.shape()[0], own[0], result[0]);
  append(each, own[1], groups * result[1]);
  append(groups, each * own[1], result[1]);
  for (int axis = 2; axis < x.shape().rank(); ++axis)
    append(x.shape()[axis], own[Index(axis, 0)], result[Index(axis, 0)]);
  Copy(context, shape, x.data<T>(), from, out->mutable_data<T>(), to);
}

template <typename T>
void Layout(const CpuContext& context, const DenseTensor& x, const std::vector<int64_t>& perm, DenseTensor* out) {
  if (!perm.empty()) return Transpose<T>(context, x, perm, out);
  const T* const from = x.data<T>();
  T* const to = out->mutable_data<T>();
  if (from == to && x.meta() == out->meta()) return;
  Copy(context, out->shape(), from, StridesOf(x.meta()), to, StridesOf(out->meta()));
}

template <typename T>
void Slice(const CpuContext& context, const DenseTensor& x, const std::vector<int64_t>& axes, const IntArray& starts,
           const IntArray& ends, const std::vector<int64_t>& steps, DenseTensor* out) {
  AxisStrides strides = StridesOf(x.meta());
  int64_t base = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t axis = Index(axes[i], x.shape().rank());
    const SliceRange range =
        ResolveSlice(x.shape()[static_cast<int>(axis)], starts[i], ends[i], steps.empty() ? 1 : steps[i]);
    base += range.start * strides[axis];
    strides[axis] *= range.step;
  }
  if (out->numel() == 0) return;
  Copy(context, out->shape(), x.data<T>() + base, strides, out->mutable_data<T>(), StridesOf(out->meta()));
}

template <typename T>
void Expand(const CpuContext& context, const DenseTensor& x, DenseTensor* out) {
  StridedCopy(LoopsOver(out->meta(), {&x.meta(), 1}), x.data<T>(), out->mutable_data<T>(), sizeof(T), context.pool());
}

// Each axis of the result is two: the repeats, along which x stays where it is, and x's own.
template <typename T>
void Tile(const CpuContext& context, const DenseTensor& x, DenseTensor* out) {
  if (out->numel() == 0) return;
  constexpr size_t kMaxDims = size_t{2} * Shape::kMaxRank;
  std::array<int64_t, kMaxDims> dims{};
  std::array<int64_t, kMaxDims> from{};
  std::array<int64_t, kMaxDims> to{};
  size_t count = 0;
  const auto append = [&](int64_t dim, int64_t from_stride, int64_t to_stride) {
    if (dim == 1) return;
    dims[count] = dim;
    from[count] = from_stride;
    to[count++] = to_stride;
  };
  const AxisStrides own = StridesOf(x.meta());
  const AxisStrides result = StridesOf(out->meta());
  const int lead = out->shape().rank() - x.shape().rank();
  for (int axis = 0; axis < out->shape().rank(); ++axis) {
    const int64_t extent = axis < lead ? 1 : x.shape()[axis - lead];
    append(out->shape()[axis] / extent, 0, extent * result[Index(axis, 0)]);
    if (axis >= lead) append(extent, own[Index(axis - lead, 0)], result[Index(axis, 0)]);
  }
  // Of more dimensions than loops have, the first are gone through here.
  const size_t first = count - std::min<size_t>(count, BroadcastLoops::kMaxRank - 1);
  const StridedDims source{{dims.data() + first, count - first}, {from.data() + first, count - first}};
  const BroadcastLoops loops({source.dims, {to.data() + first, count - first}}, {&source, 1});
  int64_t turns = 1;
  for (size_t i = 0; i < first; ++i) turns *= dims[i];
  for (int64_t turn = 0; turn < turns; ++turn) {
    const T* source_part = x.data<T>();
    T* part = out->mutable_data<T>();
    int64_t rest = turn;
    for (size_t i = first; i-- > 0; rest /= dims[i]) {
      source_part += rest % dims[i] * from[i];
      part += rest % dims[i] * to[i];
    }
    StridedCopy(loops, source_part, part, sizeof(T), context.pool());
  }
}

template <typename T>
void Concat(const CpuContext& context, std::span<const DenseTensor* const> x, int axis, DenseTensor* out) {
  const AxisStrides strides = StridesOf(out->meta());
  const size_t at = Index(axis, out->shape().rank());
  T* to = out->mutable_data<T>();
  for (const DenseTensor* part : x) {
    if (part->numel() == 0) continue;
    Copy(context, part->shape(), part->data<T>(), StridesOf(part->meta()), to, strides);
    to += part->shape()[static_cast<int>(at)] * strides[at];
  }
}

template <typename T>
void Split(const CpuContext& context, const DenseTensor& x, int axis, std::span<DenseTensor* const> out) {
  const AxisStrides strides = StridesOf(x.meta());
  const size_t at = Index(axis, x.shape().rank());
  const T* from = x.data<T>();
  for (DenseTensor* part : out) {
    if (part->numel() == 0) continue;
    Copy(context, part->shape(), from, strides, part->mutable_data<T>(), StridesOf(part->meta()));
    from += part->shape()[static_cast<int>(at)] * strides[at];
  }
}

}  // namespace

REGISTER_KERNEL(transpose, cpu, kNative, kNCHW, Transpose, WHERRY_CPU_ALL);
REGISTER_KERNEL(shuffle_channel, cpu, kNative, kNCHW, ShuffleChannel, WHERRY_CPU_ALL);
REGISTER_KERNEL(shuffle_channel, cpu, kNative, kNHWC, ShuffleChannel, WHERRY_CPU_ALL).PixelStrides();
REGISTER_KERNEL(layout, cpu, kNative, kAny, Layout, WHERRY_CPU_ALL).PixelStrides();
REGISTER_KERNEL(slice, cpu, kNative, kNCHW, Slice, WHERRY_CPU_ALL);
REGISTER_KERNEL(slice, cpu, kNative, kNHWC, Slice, WHERRY_CPU_ALL).PixelStrides();
REGISTER_KERNEL(expand, cpu, kNative, kNCHW, Expand, WHERRY_CPU_ALL);
REGISTER_KERNEL(tile, cpu, kNative, kNCHW, Tile, WHERRY_CPU_ALL);
REGISTER_KERNEL(concat, cpu, kNative, kNCHW, Concat, WHERRY_CPU_ALL);
REGISTER_KERNEL(concat, cpu, kNative, kNHWC, Concat, WHERRY_CPU_ALL).PixelStrides();
REGISTER_KERNEL(split, cpu, kNative, kNCHW, Split, WHERRY_CPU_ALL);
REGISTER_KERNEL(split, cpu, kNative, kNHWC, Split, WHERRY_CPU_ALL).PixelStrides();

}  // namespace wherry::cpu
