// Reductions over axes.
#include <array>
#include <limits>
#include <vector>

#include "base/check.h"
#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"
#include "kernels/ref/quantize.h"
#include "kernels/ref/strided.h"
#include "kernels/ref/total.h"

namespace wherry::ref {
namespace {

// Calls fold(o, value) for every element of x, o being the element of the result that it goes into.
template <typename T, typename Fold>
void FoldAxes(const DenseTensor& x, const IntArray& axis, Fold fold) {
  const Shape& shape = x.shape();
  std::array<bool, Shape::kMaxRank> reduced{};
  reduced.fill(axis.empty());
  for (const int64_t a : axis) reduced[static_cast<size_t>(a < 0 ? a + shape.rank() : a)] = true;
  Shape kept = shape;  // with dimensions of 1 where it is reduced
  for (int a = 0; a < shape.rank(); ++a) {
    if (reduced[static_cast<size_t>(a)]) kept[a] = 1;
  }
  Strides strides = RowMajorStrides(kept);
  for (int a = 0; a < shape.rank(); ++a) {
    if (reduced[static_cast<size_t>(a)]) strides[static_cast<size_t>(a)] = 0;
  }
  const T* from = x.data<T>();
  Odometer<1> at(shape, {strides});
  for (int64_t i = 0, count = shape.numel(); i < count; ++i, at.Next()) fold(at.offset(0), from[i]);
}

// The result has the type of x, but for bool i64.
template <typename T>
void StoreTotals(const std::vector<Total<T>>& totals, DenseTensor* out) {
  using Out = std::conditional_t<std::same_as<T, bool>, int64_t, T>;
  Out* to = out->mutable_data<Out>();
  for (size_t i = 0; i < totals.size(); ++i) to[i] = Store<Out>(static_cast<Wide<Out>>(totals[i]));
}

template <typename T>
void Sum(const CpuContext& /*context*/, const DenseTensor& x, const IntArray& axis, DenseTensor* out) {
  std::vector<Total<T>> totals(static_cast<size_t>(out->numel()), 0);
  FoldAxes<T>(x, axis, [&](int64_t o, T value) { totals[static_cast<size_t>(o)] += ToTotal(value); });
  StoreTotals<T>(totals, out);
}

template <typename T>
void Prod(const CpuContext& /*context*/, const DenseTensor& x, const IntArray& axis, DenseTensor* out) {
  std::vector<Total<T>> totals(static_cast<size_t>(out->numel()), 1);
  FoldAxes<T>(x, axis, [&](int64_t o, T value) { totals[static_cast<size_t>(o)] *= ToTotal(value); });
  StoreTotals<T>(totals, out);
}

template <typename T>
void Mean(const CpuContext& /*context*/, const DenseTensor& x, const IntArray& axis, DenseTensor* out) {
  if (out->numel() == 0) return;
  const int64_t count = x.numel() / out->numel();
  std::vector<Total<T>> totals(static_cast<size_t>(out->numel()), 0);
  FoldAxes<T>(x, axis, [&](int64_t o, T value) { totals[static_cast<size_t>(o)] += ToTotal(value); });
  T* to = out->mutable_data<T>();
  for (size_t i = 0; i < totals.size(); ++i) {
    if constexpr (FloatElement<T>) {
      to[i] = Store<T>(totals[i] / static_cast<double>(count));
    } else {
      WHERRY_ENFORCE(count > 0, kInvalidArgument, "the mean of no integers, x is ", x.shape().DebugString());
      // Signed totals were summed as two's complement and must be divided as signed numbers.
      if constexpr (std::signed_integral<T>) {
        to[i] = static_cast<T>(static_cast<int64_t>(totals[i]) / count);
      } else {
        to[i] = static_cast<T>(totals[i] / static_cast<uint64_t>(count));
      }
    }
  }
}

template <typename T>
void QuantizedMean(const CpuContext& /*context*/, const DenseTensor& x, float x_scale, float out_scale, int x_zero,
                   int out_zero, const IntArray& axis, DenseTensor* out) {
  if (out->numel() == 0) return;
  const int64_t count = x.numel() / out->numel();
  std::vector<int64_t> totals(static_cast<size_t>(out->numel()), 0);
  FoldAxes<T>(x, axis, [&](int64_t o, T value) { totals[static_cast<size_t>(o)] += value - x_zero; });
  T* to = out->mutable_data<T>();
  for (size_t i = 0; i < totals.size(); ++i) {
    const float mean = static_cast<float>(totals[i]) / static_cast<float>(count) * x_scale;
    to[i] = static_cast<T>(
        ToStep(mean / out_scale, out_zero, std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()));
  }
}

// `worst` is what the extreme of nothing is.
template <typename T, typename Better>
void Extreme(const DenseTensor& x, const IntArray& axis, DenseTensor* out, Wide<T> worst, Better better) {
  std::vector<Wide<T>> best(static_cast<size_t>(out->numel()), worst);
  FoldAxes<T>(x, axis, [&](int64_t o, T value) {
    const size_t i = static_cast<size_t>(o);
    const Wide<T> wide = Load(value);
    best[i] = IsNan(wide) ? wide : better(static_cast<Wide<T>>(best[i]), wide);
  });
  T* to = out->mutable_data<T>();
  for (size_t i = 0; i < best.size(); ++i) to[i] = Store<T>(best[i]);
}

template <typename T>
constexpr Wide<T> Lowest() {
  if constexpr (FloatElement<T>) {
    return -std::numeric_limits<double>::infinity();
  } else {
    return std::numeric_limits<T>::lowest();
  }
}

template <typename T>
constexpr Wide<T> Highest() {
  if constexpr (FloatElement<T>) {
    return std::numeric_limits<double>::infinity();
  } else {
    return std::numeric_limits<T>::max();
  }
}

template <typename T>
void Max(const CpuContext& /*context*/, const DenseTensor& x, const IntArray& axis, DenseTensor* out) {
  Extreme<T>(x, axis, out, Lowest<T>(), [](Wide<T> a, Wide<T> b) { return MaxElement(a, b); });
}

template <typename T>
void Min(const CpuContext& /*context*/, const DenseTensor& x, const IntArray& axis, DenseTensor* out) {
  Extreme<T>(x, axis, out, Highest<T>(), [](Wide<T> a, Wide<T> b) { return MinElement(a, b); });
}

}  // namespace

REGISTER_KERNEL(sum, ref, kHost, kNCHW, Sum, WHERRY_REF_ALL);
REGISTER_KERNEL(prod, ref, kHost, kNCHW, Prod, WHERRY_REF_ALL);
REGISTER_KERNEL(mean, ref, kHost, kNCHW, Mean, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(quantized_mean, ref, kHost, kNCHW, QuantizedMean, int8_t, uint8_t);
REGISTER_KERNEL(max, ref, kHost, kNCHW, Max, WHERRY_REF_ALL);
REGISTER_KERNEL(min, ref, kHost, kNCHW, Min, WHERRY_REF_ALL);

}  // namespace wherry::ref
