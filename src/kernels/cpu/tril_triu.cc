// tril_triu, row by row: what is kept is copied, what is beside it zero.
#include <algorithm>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/element_types.h"

namespace wherry::cpu {
namespace {

template <typename T>
void TrilTriu(const CpuContext& context, const DenseTensor& x, const Scalar& diagonal, bool lower, DenseTensor* out) {
  if (x.numel() == 0) return;
  const int rank = x.shape().rank();
  const int64_t rows = x.shape()[rank - 2];
  const int64_t columns = x.shape()[rank - 1];
  // Beyond the corners all diagonals are alike.
  const int64_t place = std::clamp(diagonal.to<int64_t>(), -rows, columns);
  const T* const from = x.data<T>();
  T* const to = out->mutable_data<T>();
  constexpr int64_t kMinElements = 16384;  // below, claiming a chunk costs more than copying it
  ParallelFor(context.pool(), x.numel() / columns, std::max<int64_t>(1, kMinElements / columns),
              [&](int64_t begin, int64_t end) {
                for (int64_t row = begin; row < end; ++row) {
                  // Where what is kept ends or begins.
                  const int64_t border = std::clamp<int64_t>(row % rows + place + (lower ? 1 : 0), 0, columns);
                  const int64_t kept = lower ? 0 : border;
                  const int64_t kept_end = lower ? border : columns;
                  const T* const source = from + row * columns;
                  T* const target = to + row * columns;
                  std::fill(target, target + kept, T{});
                  if (source != target) std::copy(source + kept, source + kept_end, target + kept);
                  std::fill(target + kept_end, target + columns, T{});
                }
              });
}

}  // namespace

REGISTER_KERNEL(tril_triu, cpu, kNative, kNCHW, TrilTriu, WHERRY_CPU_ALL);

}  // namespace wherry::cpu
