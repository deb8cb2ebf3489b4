// take_along_axis, row by row of the index.
#include <algorithm>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernel/position.h"
#include "kernels/cpu/tensor_loops.h"

namespace wherry::cpu {
namespace {

// to[i] = from[index[i] * step + i * stride] for one row.
template <typename T, typename Index>
void TakeRow(const T* from, const Index* index, T* to, int64_t count, int64_t extent, int64_t step, int64_t stride) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t position = PositionOf(index[i], extent);
    to[i] = from[position * step + i * stride];
  }
}

template <typename T, typename Index>
void Take(const CpuContext& context, const DenseTensor& x, const DenseTensor& index, int axis, DenseTensor* out) {
  const Shape& shape = index.shape();
  const int rank = shape.rank();
  if (rank == 0) {
    TakeRow(x.data<T>(), index.data<Index>(), out->mutable_data<T>(), 1, 1, 0, 0);
    return;
  }
  const int along = axis < 0 ? axis + rank : axis;
  AxisStrides strides = StridesOf(x.meta());
  const int64_t step = strides[static_cast<size_t>(along)];
  const int64_t extent = x.shape()[along];
  strides[static_cast<size_t>(along)] = 0;
  const int64_t count = shape[rank - 1];
  const int64_t stride = strides[static_cast<size_t>(rank - 1)];
  const T* const from = x.data<T>();
  const Index* const positions = index.data<Index>();
  T* const to = out->mutable_data<T>();
  constexpr int64_t kMinElements = 8192;  // about 5 us
  ParallelFor(context.pool(), index.numel() / count, std::max<int64_t>(1, kMinElements / count),
              [&](int64_t begin, int64_t end) {
                for (int64_t row = begin; row < end; ++row) {
                  int64_t offset = 0;
                  int64_t rest = row;
                  for (int a = rank - 2; a >= 0; --a) {
                    offset += rest % shape[a] * strides[static_cast<size_t>(a)];
                    rest /= shape[a];
                  }
                  TakeRow(from + offset, positions + row * count, to + row * count, count, extent, step, stride);
                }
              });
}

template <typename T>
void TakeAlongAxis(const CpuContext& context, const DenseTensor& x, const DenseTensor& index, int axis,
                   DenseTensor* out) {
  if (out->numel() == 0) return;
  if (index.dtype() == DataType::kInt32) {
    Take<T, int32_t>(context, x, index, axis, out);
  } else {
    Take<T, int64_t>(context, x, index, axis, out);
  }
}

}  // namespace

REGISTER_KERNEL(take_along_axis, cpu, kNative, kNCHW, TakeAlongAxis, float, double, ::wherry::Float16,
                ::wherry::BFloat16, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t, bool);

}  // namespace wherry::cpu
