// Selections by position, and repetitions.
#include <algorithm>

#include "base/check.h"
#include "core/buffer.h"
#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"
#include "kernels/ref/index.h"
#include "kernels/ref/strided.h"
#include "op/infer/slice_range.h"

namespace wherry::ref {
namespace {

template <typename T>
void Slice(const CpuContext& /*context*/, const DenseTensor& x, const std::vector<int64_t>& axes,
           const IntArray& starts, const IntArray& ends, const std::vector<int64_t>& steps, DenseTensor* out) {
  Strides strides = RowMajorStrides(x.shape());
  int64_t base = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = static_cast<int>(axes[i] < 0 ? axes[i] + x.shape().rank() : axes[i]);
    const SliceRange range = ResolveSlice(x.shape()[axis], starts[i], ends[i], steps.empty() ? 1 : steps[i]);
    int64_t& stride = strides[static_cast<size_t>(axis)];
    base += range.start * stride;
    stride *= range.step;
  }
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  Odometer<1> at(out->shape(), {strides});
  for (int64_t i = 0, count = out->numel(); i < count; ++i, at.Next()) to[i] = from[base + at.offset(0)];
}

template <typename T>
void Gather(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& index, int axis, DenseTensor* out) {
  if (out->numel() == 0) return;
  const AxisView view = ViewAxis(x.shape(), axis);
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  const int64_t count = index.numel();
  for (int64_t k = 0; k < count; ++k) {
    const int64_t given = IndexAt(index, k);
    const int64_t position = given < 0 ? given + view.extent : given;
    WHERRY_ENFORCE(position >= 0 && position < view.extent, kOutOfRange, "index ", given, " lies outside axis ", axis,
                   " of x ", x.shape().DebugString());
    for (int64_t o = 0; o < view.outer; ++o) {
      std::copy_n(from + (o * view.extent + position) * view.inner, view.inner, to + (o * count + k) * view.inner);
    }
  }
}

template <typename T>
void Embedding(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& weight, int64_t padding_idx,
               DenseTensor* out) {
  if (out->numel() == 0) return;
  const int64_t rows = weight.shape()[0];
  const int64_t columns = weight.shape()[1];
  const T* from = weight.data<T>();
  T* to = out->mutable_data<T>();
  for (int64_t k = 0, count = x.numel(); k < count; ++k) {
    const int64_t row = IndexAt(x, k);
    if (padding_idx != -1 && row == padding_idx) {
      std::fill_n(to + k * columns, columns, T{});
      continue;
    }
    WHERRY_ENFORCE(row >= 0 && row < rows, kOutOfRange, "x has ", row, ", outside the ", rows, " rows of weight");
    std::copy_n(from + row * columns, columns, to + k * columns);
  }
}

template <typename T>
void Expand(const CpuContext& /*context*/, const DenseTensor& x, DenseTensor* out) {
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  Odometer<1> at(out->shape(), {BroadcastStrides(x.shape(), out->shape())});
  for (int64_t i = 0, count = out->numel(); i < count; ++i, at.Next()) to[i] = from[at.offset(0)];
}

template <typename T>
void Tile(const CpuContext& /*context*/, const DenseTensor& x, DenseTensor* out) {
  const int lead = out->shape().rank() - x.shape().rank();
  const Strides strides = RowMajorStrides(x.shape());
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  Odometer<0> at(out->shape(), {});
  for (int64_t i = 0, count = out->numel(); i < count; ++i, at.Next()) {
    int64_t offset = 0;
    for (int a = 0; a < x.shape().rank(); ++a)
      offset += at.position(lead + a) % x.shape()[a] * strides[static_cast<size_t>(a)];
    to[i] = from[offset];
  }
}

template <typename T>
void Nonzero(const CpuContext& /*context*/, const DenseTensor& x, DenseTensor* out) {
  const T* from = x.data<T>();
  const int64_t numel = x.numel();
  const int rank = x.shape().rank();
  int64_t count = 0;
  for (int64_t i = 0; i < numel; ++i) count += Load(from[i]) != Wide<T>{0} ? 1 : 0;
  out->Allocate(HostAllocator(), TensorMeta{DataType::kInt64, Shape{count, int64_t{rank}}});
  int64_t* to = out->mutable_data<int64_t>();
  Odometer<0> at(x.shape(), {});
  for (int64_t i = 0; i < numel; ++i, at.Next()) {
    if (Load(from[i]) == Wide<T>{0}) continue;
    for (int axis = 0; axis < rank; ++axis) *to++ = at.position(axis);
  }
}

}  // namespace

REGISTER_KERNEL(slice, ref, kHost, kNCHW, Slice, WHERRY_REF_ALL, WHERRY_REF_COMPLEX);
REGISTER_KERNEL(gather, ref, kHost, kNCHW, Gather, WHERRY_REF_ALL, WHERRY_REF_COMPLEX);
REGISTER_KERNEL(embedding, ref, kHost, kNCHW, Embedding, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(expand, ref, kHost, kNCHW, Expand, WHERRY_REF_ALL, WHERRY_REF_COMPLEX);
REGISTER_KERNEL(tile, ref, kHost, kNCHW, Tile, WHERRY_REF_ALL);
REGISTER_KERNEL(nonzero, ref, kHost, kNCHW, Nonzero, WHERRY_REF_ALL);

}  // namespace wherry::ref
