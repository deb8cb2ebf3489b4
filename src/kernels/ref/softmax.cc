#include <cmath>
#include <limits>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"
#include "kernels/ref/strided.h"

namespace wherry::ref {
namespace {

// One row: `count` elements, `stride` apart. In place is fine: every element is read before it is written.
template <typename T>
void SoftmaxRow(const T* x, int64_t count, int64_t stride, bool log, T* out) {
  double largest = -std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < count; ++i) largest = MaxElement(largest, Load(x[i * stride]));
  double sum = 0.0;
  for (int64_t i = 0; i < count; ++i) sum += std::exp(Load(x[i * stride]) - largest);
  const double log_sum = std::log(sum);
  for (int64_t i = 0; i < count; ++i) {
    const double shifted = Load(x[i * stride]) - largest;
    out[i * stride] = Store<T>(log ? shifted - log_sum : std::exp(shifted) / sum);
  }
}

template <typename T>
void SoftmaxRows(const DenseTensor& x, int axis, bool log, DenseTensor* out) {
  if (out->numel() == 0) return;
  const AxisView view = ViewAxis(x.shape(), axis);
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  for (int64_t o = 0; o < view.outer; ++o) {
    for (int64_t i = 0; i < view.inner; ++i) {
      const int64_t at = o * view.extent * view.inner + i;
      SoftmaxRow(from + at, view.extent, view.inner, log, to + at);
    }
  }
}

template <typename T>
void Softmax(const CpuContext& /*context*/, const DenseTensor& x, int axis, DenseTensor* out) {
  SoftmaxRows<T>(x, axis, false, out);
}

template <typename T>
void LogSoftmax(const CpuContext& /*context*/, const DenseTensor& x, int axis, DenseTensor* out) {
  SoftmaxRows<T>(x, axis, true, out);
}

}  // namespace

REGISTER_KERNEL(softmax, ref, kHost, kNCHW, Softmax, WHERRY_REF_FLOATS);
REGISTER_KERNEL(log_softmax, ref, kHost, kNCHW, LogSoftmax, WHERRY_REF_FLOATS);

}  // namespace wherry::ref
