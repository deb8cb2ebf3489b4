// Elements of the reference kernels: the types that they are registered for, and the type in which each is computed.
#pragma once

#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "wherry/types.h"

// For REGISTER_KERNEL's list of types.
#define WHERRY_REF_FLOATS float, double, ::wherry::Float16, ::wherry::BFloat16
#define WHERRY_REF_INTEGERS int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t
#define WHERRY_REF_NUMBERS WHERRY_REF_FLOATS, WHERRY_REF_INTEGERS
#define WHERRY_REF_ALL WHERRY_REF_NUMBERS, bool
#define WHERRY_REF_COMPLEX std::complex<float>, std::complex<double>

namespace wherry::internal {

// Complex numbers are elements of these kernels only.
template <>
struct DataTypeOfImpl<std::complex<float>> {
  static constexpr DataType kValue = DataType::kComplex64;
};
template <>
struct DataTypeOfImpl<std::complex<double>> {
  static constexpr DataType kValue = DataType::kComplex128;
};

}  // namespace wherry::internal

namespace wherry::ref {

template <typename T>
concept FloatElement = std::floating_point<T> || std::same_as<T, Float16> || std::same_as<T, BFloat16>;
template <typename T>
concept IntegerElement = std::integral<T> && !std::same_as<T, bool>;

// Floats are computed in double and rounded once at the end; integers and bool in their own type.
template <typename T>
using Wide = std::conditional_t<FloatElement<T>, double, T>;

template <typename T>
Wide<T> Load(T value) {
  if constexpr (FloatElement<T> && !std::floating_point<T>) {
    return static_cast<double>(static_cast<float>(value));
  } else {
    return static_cast<Wide<T>>(value);
  }
}

// Rounds to the type: ties to even, beyond the range infinity. 16-bit types are rounded by way of float, where the
// double rounding can matter only in cases that are 2^-29 of all.
template <typename T>
T Store(Wide<T> value) {
  if constexpr (FloatElement<T> && !std::floating_point<T>) {
    return T(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

// Integer arithmetic that wraps: in unsigned 64 bits, whose low bits are right for every type.
template <std::integral T>
uint64_t Bits(T value) {
  return static_cast<uint64_t>(value);
}
template <std::integral T>
T FromBits(uint64_t bits) {
  return static_cast<T>(bits);
}

template <typename T>
bool IsNan(T value) {
  if constexpr (std::floating_point<T>) {
    return std::isnan(value);
  } else {
    return false;
  }
}

// NumPy's maximum and minimum: NaN wins.
template <typename T>
T MaxElement(T a, T b) {
  return IsNan(a) || a > b ? a : b;
}
template <typename T>
T MinElement(T a, T b) {
  return IsNan(a) || a < b ? a : b;
}

}  // namespace wherry::ref
