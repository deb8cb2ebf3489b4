// Comparisons and logic of two tensors with broadcasting, and selection.
#include <string>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/broadcast.h"
#include "kernels/ref/element.h"

namespace wherry::ref {
namespace {

template <typename T, typename Predicate>
void MapPredicate(const DenseTensor& x, const DenseTensor& y, DenseTensor* out, Predicate predicate) {
  MapBroadcast<T, T, bool>(x, y, out, [predicate](T a, T b) { return predicate(Load(a), Load(b)); });
}

// NaN is true, as everything that is not zero.
template <typename T>
bool Truth(T value) {
  return value != T{0};
}

template <typename T>
void Equal(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapPredicate<T>(x, y, out, [](Wide<T> a, Wide<T> b) { return a == b; });
}

template <typename T>
void NotEqual(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapPredicate<T>(x, y, out, [](Wide<T> a, Wide<T> b) { return a != b; });
}

template <typename T>
void LessThan(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapPredicate<T>(x, y, out, [](Wide<T> a, Wide<T> b) { return a < b; });
}

template <typename T>
void LessEqual(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapPredicate<T>(x, y, out, [](Wide<T> a, Wide<T> b) { return a <= b; });
}

template <typename T>
void GreaterThan(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapPredicate<T>(x, y, out, [](Wide<T> a, Wide<T> b) { return a > b; });
}

template <typename T>
void GreaterEqual(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapPredicate<T>(x, y, out, [](Wide<T> a, Wide<T> b) { return a >= b; });
}

template <typename T>
void LogicalAnd(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapPredicate<T>(x, y, out, [](Wide<T> a, Wide<T> b) { return Truth(a) && Truth(b); });
}

template <typename T>
void LogicalOr(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapPredicate<T>(x, y, out, [](Wide<T> a, Wide<T> b) { return Truth(a) || Truth(b); });
}

template <typename T>
void LogicalXor(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapPredicate<T>(x, y, out, [](Wide<T> a, Wide<T> b) { return Truth(a) != Truth(b); });
}

template <typename T>
void Where(const CpuContext& /*context*/, const DenseTensor& condition, const DenseTensor& x, const DenseTensor& y,
           DenseTensor* out) {
  const bool* which = condition.data<bool>();
  const T* left = x.data<T>();
  const T* right = y.data<T>();
  T* to = out->mutable_data<T>();
  const Shape& shape = out->shape();
  Odometer<3> at(shape, {BroadcastStrides(condition.shape(), shape), BroadcastStrides(x.shape(), shape),
                         BroadcastStrides(y.shape(), shape)});
  for (int64_t i = 0, count = shape.numel(); i < count; ++i, at.Next()) {
    to[i] = which[at.offset(0)] ? left[at.offset(1)] : right[at.offset(2)];
  }
}

}  // namespace

REGISTER_KERNEL(equal, ref, kHost, kNCHW, Equal, WHERRY_REF_ALL, std::string);
REGISTER_KERNEL(not_equal, ref, kHost, kNCHW, NotEqual, WHERRY_REF_ALL, std::string);
REGISTER_KERNEL(less_than, ref, kHost, kNCHW, LessThan, WHERRY_REF_ALL);
REGISTER_KERNEL(less_equal, ref, kHost, kNCHW, LessEqual, WHERRY_REF_ALL);
REGISTER_KERNEL(greater_than, ref, kHost, kNCHW, GreaterThan, WHERRY_REF_ALL);
REGISTER_KERNEL(greater_equal, ref, kHost, kNCHW, GreaterEqual, WHERRY_REF_ALL);
REGISTER_KERNEL(logical_and, ref, kHost, kNCHW, LogicalAnd, WHERRY_REF_ALL);
REGISTER_KERNEL(logical_or, ref, kHost, kNCHW, LogicalOr, WHERRY_REF_ALL);
REGISTER_KERNEL(logical_xor, ref, kHost, kNCHW, LogicalXor, WHERRY_REF_ALL);
REGISTER_KERNEL(where, ref, kHost, kNCHW, Where, WHERRY_REF_ALL);

}  // namespace wherry::ref
