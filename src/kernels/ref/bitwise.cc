// Logic of bits.
#include <limits>

#include "base/check.h"
#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/broadcast.h"
#include "kernels/ref/element.h"

namespace wherry::ref {
namespace {

template <typename T>
void BitwiseAnd(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapBroadcast<T, T, T>(x, y, out, [](T a, T b) { return FromBits<T>(Bits(a) & Bits(b)); });
}

template <typename T>
void BitwiseOr(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapBroadcast<T, T, T>(x, y, out, [](T a, T b) { return FromBits<T>(Bits(a) | Bits(b)); });
}

template <typename T>
void BitwiseXor(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapBroadcast<T, T, T>(x, y, out, [](T a, T b) { return FromBits<T>(Bits(a) ^ Bits(b)); });
}

template <typename T>
void BitwiseNot(const CpuContext& /*context*/, const DenseTensor& x, DenseTensor* out) {
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  for (int64_t i = 0, count = x.numel(); i < count; ++i) {
    if constexpr (std::same_as<T, bool>) {
      to[i] = !from[i];
    } else {
      to[i] = FromBits<T>(~Bits(from[i]));
    }
  }
}

// The bits to move by, at most those of the type.
template <IntegerElement T>
int Distance(T by) {
  constexpr int kAll = 8 * sizeof(T);
  WHERRY_ENFORCE(!(by < T{0}), kInvalidArgument, "bits are moved by ", +by);
  return std::cmp_less(by, kAll) ? static_cast<int>(by) : kAll;
}

template <IntegerElement T>
T MovedDown(T value, int by, bool fill_with_sign) {
  constexpr int kAll = 8 * sizeof(T);
  if (std::signed_integral<T> && fill_with_sign) return static_cast<T>(value >> (by < kAll ? by : kAll - 1));
  const auto bits = static_cast<std::make_unsigned_t<T>>(value);
  return by < kAll ? static_cast<T>(bits >> by) : T{0};
}

template <typename T>
void ShiftLeft(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, bool /*is_arithmetic*/,
               DenseTensor* out) {
  MapBroadcast<T, T, T>(x, y, out, [](T a, T b) {
    const int by = Distance(b);
    return by < 64 ? FromBits<T>(Bits(a) << by) : T{0};
  });
}

template <typename T>
void ShiftRight(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, bool is_arithmetic,
                DenseTensor* out) {
  MapBroadcast<T, T, T>(x, y, out, [is_arithmetic](T a, T b) { return MovedDown(a, Distance(b), is_arithmetic); });
}

}  // namespace

REGISTER_KERNEL(bitwise_and, ref, kHost, kNCHW, BitwiseAnd, WHERRY_REF_INTEGERS, bool);
REGISTER_KERNEL(bitwise_or, ref, kHost, kNCHW, BitwiseOr, WHERRY_REF_INTEGERS, bool);
REGISTER_KERNEL(bitwise_xor, ref, kHost, kNCHW, BitwiseXor, WHERRY_REF_INTEGERS, bool);
REGISTER_KERNEL(bitwise_not, ref, kHost, kNCHW, BitwiseNot, WHERRY_REF_INTEGERS, bool);
REGISTER_KERNEL(bitwise_left_shift, ref, kHost, kNCHW, ShiftLeft, WHERRY_REF_INTEGERS);
REGISTER_KERNEL(bitwise_right_shift, ref, kHost, kNCHW, ShiftRight, WHERRY_REF_INTEGERS);

}  // namespace wherry::ref
