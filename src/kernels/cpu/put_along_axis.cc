// put_along_axis row by row of the index.
#include <string>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernel/position.h"
#include "kernels/cpu/combine.h"
#include "kernels/cpu/tensor_loops.h"

namespace wherry::cpu {
namespace {

// For one row: what is at to[index[i] * step + i * stride] is combined with from[i].
template <typename Combine, typename T, typename Index>
void PutRow(const Combine& combine, const T* from, const Index* index, T* to, int64_t count, int64_t extent,
            int64_t step, int64_t stride) {
  for (int64_t i = 0; i < count; ++i) {
    T& at = to[PositionOf(index[i], extent) * step + i * stride];
    at = combine(at, from[i]);
  }
}

// On one thread: positions may be the same, and then the order counts.
template <typename Index, typename Combine, typename T>
void PutRows(const Combine& combine, const Shape& x, const DenseTensor& index, const T* from, int axis, T* to) {
  const Shape& shape = index.shape();
  const int rank = shape.rank();
  const int along = axis < 0 ? axis + rank : axis;
  AxisStrides strides{};
  int64_t next = 1;
  for (int a = rank - 1; a >= 0; --a) {
    strides[static_cast<size_t>(a)] = next;
    next *= x[a];
  }
  const int64_t step = strides[static_cast<size_t>(along)];
  strides[static_cast<size_t>(along)] = 0;
  const int64_t count = shape[rank - 1];
  const int64_t stride = strides[static_cast<size_t>(rank - 1)];
  const auto* positions = index.data<Index>();
  for (int64_t row = 0; row < index.numel() / count; ++row, positions += count, from += count) {
    int64_t offset = 0;
    int64_t rest = row;
    for (int a = rank - 2; a >= 0; --a) {
      offset += rest % shape[a] * strides[static_cast<size_t>(a)];
      rest /= shape[a];
    }
    PutRow(combine, from, positions, to + offset, count, x[along], step, stride);
  }
}

template <typename T>
void PutAlongAxis(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& index,
                  const DenseTensor& value, int axis, const std::string& reduce, bool /*include_self*/,
                  DenseTensor* out) {
  if (x.raw_data() != out->raw_data()) x.CopyBytesTo(out->mutable_raw_data());
  if (index.numel() == 0) return;
  WithCombine(reduce, [&](const auto& combine) {
    if (index.dtype() == DataType::kInt32) {
      PutRows<int32_t>(combine, x.shape(), index, value.data<T>(), axis, out->mutable_data<T>());
    } else {
      PutRows<int64_t>(combine, x.shape(), index, value.data<T>(), axis, out->mutable_data<T>());
    }
  });
}

Support Supports(const KernelProblem& problem) {
  if (!Combines(problem.Attr<std::string>("reduce"))) return Support::No("combines no means");
  if (!problem.Attr<bool>("include_self")) return Support::No("begins with the elements of x");
  return Support::Yes();
}

}  // namespace

REGISTER_KERNEL(put_along_axis, cpu, kNative, kNCHW, PutAlongAxis, float, double, int32_t, int64_t).Supports(&Supports);

}  // namespace wherry::cpu
