// cumsum: running sums, down columns side by side where the axis is not the last.
#include <algorithm>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/tensor_loops.h"
#include "kernels/cpu/vector/columns.h"

namespace wherry::cpu {
namespace {

template <typename T>
void Cumsum(const CpuContext& context, const DenseTensor& x, const Scalar& axis, bool flatten, bool exclusive,
            bool reverse, DenseTensor* out) {
  if (x.numel() == 0) return;
  const AxisRun run = flatten ? AxisRun{1, x.numel(), 1} : RunAlong(x.shape(), axis.to<int64_t>());
  const T* const from = x.data<T>();
  T* const to = out->mutable_data<T>();
  const int64_t blocks = (run.inner + kMaxColumns - 1) / kMaxColumns;
  const int64_t first = reverse ? (run.extent - 1) * run.inner : 0;
  const int64_t stride = reverse ? -run.inner : run.inner;
  // About 5 us a chunk at least.
  constexpr int64_t kMinElements = 8192;
  const int64_t grain = std::max<int64_t>(1, kMinElements / (run.extent * std::min(run.inner, kMaxColumns)));
  ParallelFor(context.pool(), run.outer * blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t column = i % blocks * kMaxColumns;
      const int64_t at = i / blocks * run.extent * run.inner + first + column;
      CumulateColumns(from + at, to + at, run.extent, stride, std::min(kMaxColumns, run.inner - column), exclusive);
    }
  });
}

}  // namespace

REGISTER_KERNEL(cumsum, cpu, kNative, kNCHW, Cumsum, float, int32_t, int64_t);

}  // namespace wherry::cpu
