// put_along_axis row by row of the index: elements that are set, and sums.
#include <cstring>
#include <string>

#include "core/device_context.h"
#include "kernel/kernel_context.h"
#include "kernel/kernel_registrar.h"
#include "kernel/position.h"
#include "kernels/cpu/tensor_loops.h"

namespace wherry::cpu {
namespace {

// to[index[i] * step + i * stride] = from[i], or plus that, for one row.
template <bool kAdds, typename T, typename Index>
void PutRow(const T* from, const Index* index, T* to, int64_t count, int64_t extent, int64_t step, int64_t stride) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t position = PositionOf(index[i], extent);
    T& at = to[position * step + i * stride];
    at = kAdds ? static_cast<T>(at + from[i]) : from[i];
  }
}

// On one thread: positions may be the same, and then the order counts.
template <bool kAdds, typename T, typename Index>
void PutRows(const Shape& x, const DenseTensor& index, const T* from, int axis, T* to) {
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
    PutRow<kAdds>(from, positions, to + offset, count, x[along], step, stride);
  }
}

// T: a type as large as the elements, or for sums theirs; unsigned, where sums wrap.
template <bool kAdds, typename T>
void Put(const DenseTensor& x, const DenseTensor& index, const DenseTensor& value, int axis, DenseTensor* out) {
  if (x.raw_data() != out->raw_data()) x.CopyBytesTo(out->mutable_raw_data());
  if (index.numel() == 0) return;
  const auto* const from = static_cast<const T*>(value.raw_data());
  auto* const to = static_cast<T*>(out->mutable_raw_data());
  if (index.dtype() == DataType::kInt32) {
    PutRows<kAdds, T, int32_t>(x.shape(), index, from, axis, to);
  } else {
    PutRows<kAdds, T, int64_t>(x.shape(), index, from, axis, to);
  }
}

Support Supports(const KernelProblem& problem) {
  const auto reduce = problem.Attr<std::string>("reduce");
  if (reduce != "assign" && reduce != "add") return Support::No("sets or adds only");
  if (!problem.Attr<bool>("include_self")) return Support::No("begins with the elements of x");
  return Support::Yes();
}

template <typename Bits, typename Sum>
void Run(KernelContext* context) {
  const DenseTensor& x = *context->Input(0);
  const DenseTensor& index = *context->Input(1);
  const DenseTensor& value = *context->Input(2);
  const auto axis = context->AttrAt<int>(0);
  if (context->AttrAt<std::string>(1) == "add") {
    Put<true, Sum>(x, index, value, axis, context->Output(0));
  } else {
    Put<false, Bits>(x, index, value, axis, context->Output(0));
  }
}

}  // namespace

REGISTER_KERNEL_VARIANT(put_along_axis, cpu, rows, kNative, kFloat, kNCHW)
    .Supports(&Supports)
    .Run(&Run<uint32_t, float>);
REGISTER_KERNEL_VARIANT(put_along_axis, cpu, rows, kNative, kInt32, kNCHW)
    .Supports(&Supports)
    .Run(&Run<uint32_t, uint32_t>);
REGISTER_KERNEL_VARIANT(put_along_axis, cpu, rows, kNative, kInt64, kNCHW)
    .Supports(&Supports)
    .Run(&Run<uint64_t, uint64_t>);

}  // namespace wherry::cpu
