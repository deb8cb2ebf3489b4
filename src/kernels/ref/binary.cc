// Arithmetic of two tensors with broadcasting.
#include <cmath>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/arithmetic.h"
#include "kernels/ref/broadcast.h"
#include "kernels/ref/element.h"
#include "kernels/ref/special.h"

namespace wherry::ref {
namespace {

// function(Wide<T>, Wide<T>) -> Wide<T>.
template <typename T, typename Function>
void MapBinary(const DenseTensor& x, const DenseTensor& y, DenseTensor* out, Function function) {
  MapBroadcast<T, T, T>(x, y, out, [function](T a, T b) { return Store<T>(function(Load(a), Load(b))); });
}

template <typename T>
void Add(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapBinary<T>(x, y, out, [](Wide<T> a, Wide<T> b) {
    if constexpr (FloatElement<T>) {
      return a + b;
    } else {
      return FromBits<T>(Bits(a) + Bits(b));
    }
  });
}

template <typename T>
void Subtract(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapBinary<T>(x, y, out, [](Wide<T> a, Wide<T> b) {
    if constexpr (FloatElement<T>) {
      return a - b;
    } else {
      return FromBits<T>(Bits(a) - Bits(b));
    }
  });
}

template <typename T>
void Multiply(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapBinary<T>(x, y, out, [](Wide<T> a, Wide<T> b) {
    if constexpr (FloatElement<T>) {
      return a * b;
    } else {
      return FromBits<T>(Bits(a) * Bits(b));
    }
  });
}

template <typename T>
void Divide(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapBinary<T>(x, y, out, [](Wide<T> a, Wide<T> b) {
    if constexpr (FloatElement<T>) {
      return a / b;
    } else {
      return Quotient(a, b);
    }
  });
}

template <typename T>
void Maximum(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapBinary<T>(x, y, out, [](Wide<T> a, Wide<T> b) { return IsNan(b) ? b : MaxElement(a, b); });
}

template <typename T>
void Minimum(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapBinary<T>(x, y, out, [](Wide<T> a, Wide<T> b) { return IsNan(b) ? b : MinElement(a, b); });
}

template <typename T>
void Power(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapBinary<T>(x, y, out, [](Wide<T> a, Wide<T> b) {
    if constexpr (FloatElement<T>) {
      return std::pow(a, b);
    } else {
      return IntegerPower(a, b);
    }
  });
}

template <typename T>
void FloorDivide(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapBinary<T>(x, y, out, [](Wide<T> a, Wide<T> b) { return FloorQuotient(a, b); });
}

template <typename T>
void Remainder(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapBinary<T>(x, y, out, [](Wide<T> a, Wide<T> b) { return FloorRemainder(a, b); });
}

template <typename T>
void Fmod(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapBinary<T>(x, y, out, [](Wide<T> a, Wide<T> b) {
    if constexpr (FloatElement<T>) {
      return std::fmod(a, b);
    } else {
      return TruncatedRemainder(a, b);
    }
  });
}

template <typename T>
void Atan2(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapBinary<T>(x, y, out, [](double a, double b) { return std::atan2(a, b); });
}

template <typename T>
void CopySign(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapBinary<T>(x, y, out, [](double a, double b) { return std::copysign(a, b); });
}

template <typename T>
void NextAfter(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapBinary<T>(x, y, out, [](T a, T b) { return std::nextafter(a, b); });
}

template <typename T>
void Heaviside(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapBinary<T>(x, y, out, [](Wide<T> a, Wide<T> b) {
    if (IsNan(a)) return a;
    return a == Wide<T>{0} ? b : static_cast<Wide<T>>(a > Wide<T>{0});
  });
}

template <typename T>
void FMax(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapBinary<T>(x, y, out, [](Wide<T> a, Wide<T> b) { return IsNan(a) || b > a ? b : a; });
}

template <typename T>
void FMin(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapBinary<T>(x, y, out, [](Wide<T> a, Wide<T> b) { return IsNan(a) || b < a ? b : a; });
}

template <typename T>
void UpperGammaKernel(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapBinary<T>(x, y, out, [](double a, double b) { return UpperGamma(a, b); });
}

}  // namespace

REGISTER_KERNEL(add, ref, kHost, kNCHW, Add, WHERRY_REF_ALL);
REGISTER_KERNEL(subtract, ref, kHost, kNCHW, Subtract, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(multiply, ref, kHost, kNCHW, Multiply, WHERRY_REF_ALL);
REGISTER_KERNEL(divide, ref, kHost, kNCHW, Divide, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(maximum, ref, kHost, kNCHW, Maximum, WHERRY_REF_ALL);
REGISTER_KERNEL(minimum, ref, kHost, kNCHW, Minimum, WHERRY_REF_ALL);
REGISTER_KERNEL(elementwise_pow, ref, kHost, kNCHW, Power, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(floor_divide, ref, kHost, kNCHW, FloorDivide, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(remainder, ref, kHost, kNCHW, Remainder, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(fmod, ref, kHost, kNCHW, Fmod, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(atan2, ref, kHost, kNCHW, Atan2, WHERRY_REF_FLOATS);
REGISTER_KERNEL(copysign, ref, kHost, kNCHW, CopySign, WHERRY_REF_FLOATS);
REGISTER_KERNEL(nextafter, ref, kHost, kNCHW, NextAfter, float, double);
REGISTER_KERNEL(heaviside, ref, kHost, kNCHW, Heaviside, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(fmax, ref, kHost, kNCHW, FMax, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(gammaincc, ref, kHost, kNCHW, UpperGammaKernel, WHERRY_REF_FLOATS);
REGISTER_KERNEL(fmin, ref, kHost, kNCHW, FMin, WHERRY_REF_NUMBERS);

}  // namespace wherry::ref
