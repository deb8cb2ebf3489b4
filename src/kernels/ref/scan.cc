// What gathers up along an axis.
#include <cmath>
#include <limits>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"
#include "kernels/ref/index.h"
#include "kernels/ref/strided.h"
#include "kernels/ref/total.h"

namespace wherry::ref {
namespace {

struct Direction {
  bool exclusive;
  bool reverse;
};

template <typename T, typename Step>
void Cumulate(const DenseTensor& x, const Scalar& axis, bool flatten, Direction direction, Total<T> start, Step step,
              DenseTensor* out) {
  if (x.numel() == 0) return;
  const AxisView view = flatten ? AxisView{1, x.numel(), 1} : ViewAxis(x.shape(), axis.to<int64_t>());
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  for (int64_t o = 0; o < view.outer; ++o) {
    for (int64_t i = 0; i < view.inner; ++i) {
      Total<T> total = start;
      for (int64_t a = 0; a < view.extent; ++a) {
        const int64_t along = direction.reverse ? view.extent - 1 - a : a;
        const int64_t at = (o * view.extent + along) * view.inner + i;
        const Total<T> before = total;
        total = step(total, ToTotal(from[at]));
        to[at] = Store<T>(static_cast<Wide<T>>(direction.exclusive ? before : total));
      }
    }
  }
}

template <typename T>
void Cumsum(const CpuContext& /*context*/, const DenseTensor& x, const Scalar& axis, bool flatten, bool exclusive,
            bool reverse, DenseTensor* out) {
  using G = Total<T>;
  Cumulate<T>(
      x, axis, flatten, {exclusive, reverse}, 0, [](G total, G value) { return total + value; }, out);
}

template <typename T>
void Cumprod(const CpuContext& /*context*/, const DenseTensor& x, const Scalar& axis, bool flatten, bool exclusive,
             bool reverse, DenseTensor* out) {
  using G = Total<T>;
  Cumulate<T>(
      x, axis, flatten, {exclusive, reverse}, 1, [](G total, G value) { return total * value; }, out);
}

double LogAddExp(double a, double b) {
  if (std::isinf(a) && a == b) return a;
  const double high = IsNan(a) || a > b ? a : b;
  return high + std::log1p(std::exp(-std::fabs(a - b)));
}

template <typename T>
void LogCumsumExp(const CpuContext& /*context*/, const DenseTensor& x, const Scalar& axis, bool flatten, bool exclusive,
                  bool reverse, DenseTensor* out) {
  Cumulate<T>(x, axis, flatten, {exclusive, reverse}, -std::numeric_limits<double>::infinity(), &LogAddExp, out);
}

// replaces(a, b): a takes the place of b.
template <typename T, typename Replaces>
void CumulateExtreme(const DenseTensor& x, int axis, DenseTensor* out, DenseTensor* indices, Replaces replaces) {
  if (x.numel() == 0) return;
  const AxisView view = ViewAxis(x.shape(), axis);
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  for (int64_t o = 0; o < view.outer; ++o) {
    for (int64_t i = 0; i < view.inner; ++i) {
      const int64_t first = o * view.extent * view.inner + i;
      int64_t best = 0;
      for (int64_t a = 0; a < view.extent; ++a) {
        const Wide<T> value = Load(from[first + a * view.inner]);
        const Wide<T> leader = Load(from[first + best * view.inner]);
        if (IsNan(value) || (!IsNan(leader) && replaces(value, leader))) best = a;
        to[first + a * view.inner] = from[first + best * view.inner];
        SetIndex(indices, first + a * view.inner, best);
      }
    }
  }
}

template <typename T>
void Cummax(const CpuContext& /*context*/, const DenseTensor& x, int axis, DataType /*dtype*/, DenseTensor* out,
            DenseTensor* indices) {
  CumulateExtreme<T>(x, axis, out, indices, [](Wide<T> a, Wide<T> b) { return a >= b; });
}

template <typename T>
void Cummin(const CpuContext& /*context*/, const DenseTensor& x, int axis, DataType /*dtype*/, DenseTensor* out,
            DenseTensor* indices) {
  CumulateExtreme<T>(x, axis, out, indices, [](Wide<T> a, Wide<T> b) { return a <= b; });
}

}  // namespace

REGISTER_KERNEL(cumsum, ref, kHost, kNCHW, Cumsum, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(cumprod, ref, kHost, kNCHW, Cumprod, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(logcumsumexp, ref, kHost, kNCHW, LogCumsumExp, WHERRY_REF_FLOATS);
REGISTER_KERNEL(cummax, ref, kHost, kNCHW, Cummax, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(cummin, ref, kHost, kNCHW, Cummin, WHERRY_REF_NUMBERS);

}  // namespace wherry::ref
