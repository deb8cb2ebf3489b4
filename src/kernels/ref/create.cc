// New tensors.
#include <algorithm>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"
#include "op/infer/slice_range.h"

namespace wherry::ref {
namespace {

template <typename T>
T FromScalar(const Scalar& value) {
  if constexpr (FloatElement<T>) {
    return Store<T>(value.to<double>());
  } else {
    return value.to<T>();
  }
}

template <typename T>
void Full(const CpuContext& /*context*/, const Scalar& value, DenseTensor* out) {
  std::fill_n(out->mutable_data<T>(), out->numel(), FromScalar<T>(value));
}

template <typename T>
void FullLike(const CpuContext& /*context*/, const DenseTensor& /*x*/, const Scalar& value, DenseTensor* out) {
  std::fill_n(out->mutable_data<T>(), out->meta().storage_numel(), FromScalar<T>(value));
}

template <typename T>
void Arange(const CpuContext& /*context*/, const Scalar& start, const Scalar& step, DenseTensor* out) {
  T* to = out->mutable_data<T>();
  for (int64_t i = 0, count = out->numel(); i < count; ++i) {
    if constexpr (FloatElement<T>) {
      to[i] = Store<T>(start.to<double>() + static_cast<double>(i) * step.to<double>());
    } else {
      to[i] = static_cast<T>(ArangeElement(start, step, i));
    }
  }
}

template <typename T>
void Linspace(const CpuContext& /*context*/, const Scalar& start, const Scalar& stop, DenseTensor* out) {
  T* to = out->mutable_data<T>();
  const int64_t count = out->numel();
  const double first = start.to<double>();
  const double last = stop.to<double>();
  const double step = count > 1 ? (last - first) / static_cast<double>(count - 1) : 0.0;
  for (int64_t i = 0; i < count; ++i) {
    // From the nearer end, so that both are exact.
    const double value =
        i < (count + 1) / 2 ? first + step * static_cast<double>(i) : last - step * static_cast<double>(count - 1 - i);
    if constexpr (FloatElement<T>) {
      to[i] = Store<T>(value);
    } else {
      to[i] = Scalar(value).to<T>();
    }
  }
}

template <typename T>
void ShapeOf(const CpuContext& /*context*/, const DenseTensor& x, DenseTensor* out) {
  T* to = out->mutable_data<T>();
  for (const int64_t dim : x.shape()) {
    WHERRY_ENFORCE(std::in_range<T>(dim), kOutOfRange, "dimension ", dim, " of ", x.shape().DebugString(),
                   " does not fit the result's type");
    *to++ = static_cast<T>(dim);
  }
}

}  // namespace

REGISTER_KERNEL(full, ref, kHost, kNCHW, Full, WHERRY_REF_ALL);
REGISTER_KERNEL(fill_any_like, ref, kHost, kNCHW, FullLike, WHERRY_REF_ALL);
REGISTER_KERNEL(arange, ref, kHost, kNCHW, Arange, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(linspace, ref, kHost, kNCHW, Linspace, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(shape, ref, kHost, kNCHW, ShapeOf, int32_t, int64_t);

}  // namespace wherry::ref
