// Scalar arithmetic with the rules of NumPy, shared by the binary kernels and elementwise programs.
#pragma once

#include <cmath>

#include "base/check.h"
#include "kernels/ref/element.h"

namespace wherry::ref {

template <IntegerElement T>
void CheckDivisor(T divisor) {
  WHERRY_ENFORCE(divisor != 0, kInvalidArgument, "integer division by zero");
}

// Truncated division. The one quotient that does not fit, lowest / -1, wraps.
template <IntegerElement T>
T Quotient(T a, T b) {
  CheckDivisor(b);
  if constexpr (std::signed_integral<T>) {
    if (b == -1) return FromBits<T>(0 - Bits(a));
  }
  return static_cast<T>(a / b);
}

// With the sign of a.
template <IntegerElement T>
T TruncatedRemainder(T a, T b) {
  CheckDivisor(b);
  if constexpr (std::signed_integral<T>) {
    if (b == -1) return 0;
  }
  return static_cast<T>(a % b);
}

template <IntegerElement T>
T FloorQuotient(T a, T b) {
  const T quotient = Quotient(a, b);
  if constexpr (std::signed_integral<T>) {
    const T remainder = TruncatedRemainder(a, b);
    if (remainder != 0 && (remainder < 0) != (b < 0)) return static_cast<T>(quotient - 1);
  }
  return quotient;
}

// With the sign of b.
template <IntegerElement T>
T FloorRemainder(T a, T b) {
  const T remainder = TruncatedRemainder(a, b);
  if constexpr (std::signed_integral<T>) {
    if (remainder != 0 && (remainder < 0) != (b < 0)) return static_cast<T>(remainder + b);
  }
  return remainder;
}

// Wraps. A negative exponent gives the exact result truncated: 1 / base^n is 0 but for a base of 1 or -1.
template <IntegerElement T>
T IntegerPower(T base, T exponent) {
  if constexpr (std::signed_integral<T>) {
    if (exponent < 0) {
      WHERRY_ENFORCE(base != 0, kInvalidArgument, "zero to the power ", +exponent, " as an integer");
      if (base == 1) return 1;
      if (base == -1) return exponent % 2 == 0 ? T{1} : T{-1};
      return 0;
    }
  }
  uint64_t result = 1;
  uint64_t square = Bits(base);
  for (uint64_t rest = Bits(exponent); rest != 0; rest >>= 1U) {
    if ((rest & 1U) != 0) result *= square;
    square *= square;
  }
  return FromBits<T>(result);
}

inline double FloorRemainder(double a, double b) {
  const double remainder = std::fmod(a, b);
  if (remainder == 0.0) return std::copysign(0.0, b);
  return (remainder < 0.0) != (b < 0.0) ? remainder + b : remainder;  // NaN passes through
}

// floor of the exact quotient, which floor(a / b) is not where a / b rounds up to a whole number. As in NumPy, infinity
// by a finite number is NaN.
inline double FloorQuotient(double a, double b) {
  if (b == 0.0) return a / b;
  const double remainder = FloorRemainder(a, b);
  const double quotient = (a - remainder) / b;  // a whole number but for rounding
  if (std::isinf(b)) return std::isnan(a) || std::isinf(a) ? std::nan("") : (remainder == a ? 0.0 : -1.0);
  return quotient == 0.0 ? std::copysign(0.0, a / b) : std::nearbyint(quotient);
}

}  // namespace wherry::ref
