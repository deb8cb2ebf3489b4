// The positions of extreme elements.
#include "base/check.h"
#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"
#include "kernels/ref/strided.h"

namespace wherry::ref {
namespace {

// Position of the best of `count` elements; beats(a, b): a is strictly better. A NaN is the best of all, and the first
// one stays.
template <typename T, typename Beats>
int64_t BestPosition(const T* x, int64_t count, int64_t stride, bool select_last, Beats beats) {
  int64_t best = 0;
  for (int64_t i = 1; i < count; ++i) {
    const Wide<T> value = Load(x[i * stride]);
    const Wide<T> leader = Load(x[best * stride]);
    if (IsNan(leader)) break;
    if (IsNan(value) || beats(value, leader) || (select_last && value == leader)) best = i;
  }
  return best;
}

template <typename T, typename Beats>
void ArgBest(const DenseTensor& x, int64_t axis, bool flatten, bool select_last, DenseTensor* out, Beats beats) {
  if (out->numel() == 0) return;
  const AxisView view = flatten ? AxisView{1, x.numel(), 1} : ViewAxis(x.shape(), axis);
  WHERRY_ENFORCE(view.extent > 0, kInvalidArgument, "x ", x.shape().DebugString(),
                 " is empty: there is no extreme element");
  const T* from = x.data<T>();
  int64_t at = 0;
  for (int64_t o = 0; o < view.outer; ++o) {
    for (int64_t i = 0; i < view.inner; ++i, ++at) {
      const int64_t best =
          BestPosition(from + o * view.extent * view.inner + i, view.extent, view.inner, select_last, beats);
      if (out->dtype() == DataType::kInt32) {
        out->mutable_data<int32_t>()[at] = static_cast<int32_t>(best);
      } else {
        out->mutable_data<int64_t>()[at] = best;
      }
    }
  }
}

template <typename T>
void ArgMax(const CpuContext& /*context*/, const DenseTensor& x, int64_t axis, bool flatten, bool select_last,
            DenseTensor* out) {
  ArgBest<T>(x, axis, flatten, select_last, out, [](Wide<T> a, Wide<T> b) { return a > b; });
}

template <typename T>
void ArgMin(const CpuContext& /*context*/, const DenseTensor& x, int64_t axis, bool flatten, bool select_last,
            DenseTensor* out) {
  ArgBest<T>(x, axis, flatten, select_last, out, [](Wide<T> a, Wide<T> b) { return a < b; });
}

}  // namespace

REGISTER_KERNEL(argmax, ref, kHost, kNCHW, ArgMax, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(argmin, ref, kHost, kNCHW, ArgMin, WHERRY_REF_NUMBERS);

}  // namespace wherry::ref
