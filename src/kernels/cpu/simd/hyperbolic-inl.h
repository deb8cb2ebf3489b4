// sinh, cosh and the inverses of sinh, cosh and tanh, e^x - 1 and log(1 + x) on float vectors. Per-instruction-set
// header: the guard toggles. math_test.cc holds the bounds.
#if defined(WHERRY_KERNELS_CPU_SIMD_HYPERBOLIC_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WHERRY_KERNELS_CPU_SIMD_HYPERBOLIC_INL_H_
#undef WHERRY_KERNELS_CPU_SIMD_HYPERBOLIC_INL_H_
#else
#define WHERRY_KERNELS_CPU_SIMD_HYPERBOLIC_INL_H_
#endif

#include <limits>

#include "kernels/cpu/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {

// 2^(n - kLess), which may be a float where 2^n is none.
template <int kLess>
HWY_INLINE FloatVec PowerOf2(const Exponential& e) {
  const IntVec field = hn::Sub(hn::BitCast(IntTag(), e.biased), hn::Set(IntTag(), kLess));
  return hn::BitCast(FloatTag(), hn::ShiftLeft<23>(field));
}

// Within 3 ulp, as all below.
HWY_INLINE FloatVec Expm1(FloatVec x) {
  const Exponential e = ReducedExp<false>(Clip(x, Set(-80.0f), Set(89.0f)));
  const FloatVec half_power = PowerOf2<1>(e);
  const FloatVec half = hn::MulAdd(e.y, half_power, hn::Sub(half_power, Set(0.5f)));
  return hn::CopySign(hn::Add(half, half), x);
}

// e^x / 2 for x >= 0, infinite only where the sum of it and e^-x / 2 is.
HWY_INLINE FloatVec HalfExp(FloatVec x) {
  const Exponential e = ReducedExp(Smaller(Set(90.0f), x));
  const FloatVec quarter = hn::Mul(e.y, PowerOf2<2>(e));
  return hn::Add(quarter, quarter);
}

HWY_INLINE FloatVec Cosh(FloatVec x) {
  const FloatVec half = HalfExp(hn::Abs(x));
  return hn::Add(half, hn::Div(Set(0.25f), half));
}

HWY_INLINE FloatVec Sinh(FloatVec x) {
  const FloatVec ax = hn::Abs(x);
  const FloatVec square = hn::Mul(x, x);
  constexpr float kP[] = {2.8063007e-06f, 0.000198380993f, 0.00833333936f, 0.166666672f};
  const FloatVec small = hn::MulAdd(hn::Mul(x, square), Polynomial(square, kP), x);
  const FloatVec half = HalfExp(ax);
  const FloatVec large = hn::Sub(half, hn::Div(Set(0.25f), half));
  return hn::IfThenElse(hn::Lt(ax, Set(1.0f)), small, hn::CopySign(large, x));
}

// -inf at -1, NaN below.
HWY_INLINE FloatVec Log1p(FloatVec x) {
  const FloatVec one = Set(1.0f);
  const FloatVec sum = hn::Add(x, one);
  // What the sum has lost.
  const FloatVec part = hn::Sub(sum, x);
  const FloatVec lost = hn::Add(hn::Sub(x, hn::Sub(sum, part)), hn::Sub(one, part));
  const ReducedFloat reduced = ReduceForLog(sum);
  // Beside 2^40 it does not count.
  const IntVec exponent = hn::Min(reduced.exponent, hn::Set(IntTag(), 40));
  const FloatVec power = hn::BitCast(FloatTag(), hn::ShiftLeft<23>(hn::Sub(hn::Set(IntTag(), 127), exponent)));
  const FloatVec f = hn::MulAdd(lost, power, hn::Sub(reduced.m, one));
  const float inf = std::numeric_limits<float>::infinity();
  FloatVec y = LogOfReduced(f, hn::ConvertTo(FloatTag(), reduced.exponent));
  y = hn::IfThenElse(hn::Eq(x, Set(inf)), x, y);
  y = hn::IfThenElse(hn::Eq(x, Set(-1.0f)), Set(-inf), y);
  // Less or NaN: the comparison is false for both.
  return hn::IfThenElse(hn::Ge(x, Set(-1.0f)), hn::CopySign(y, x), Set(std::numeric_limits<float>::quiet_NaN()));
}

// Where the inverses below are log(2 x) to the last bit, and x^2 is no float any more before long.
inline constexpr float kLargeForLog = 1e8f;
HWY_INLINE FloatVec Log2xOrLog1p(FloatVec x, FloatVec less_one) {
  const FloatMask large = hn::Gt(x, Set(kLargeForLog));
  return hn::Add(Log1p(hn::IfThenElse(large, x, less_one)), hn::IfThenElseZero(large, Set(0.693147181f)));
}

HWY_INLINE FloatVec Asinh(FloatVec x) {
  const FloatVec ax = hn::Abs(x);
  const FloatVec square = hn::Mul(ax, ax);
  const FloatVec root = hn::Sqrt(hn::Add(square, Set(1.0f)));
  // root - 1 = x^2 / (root + 1)
  return hn::CopySign(Log2xOrLog1p(ax, hn::Add(ax, hn::Div(square, hn::Add(root, Set(1.0f))))), x);
}

// NaN below 1.
HWY_INLINE FloatVec Acosh(FloatVec x) {
  const FloatVec rest = hn::Sub(x, Set(1.0f));
  const FloatVec root = hn::Sqrt(hn::Mul(rest, hn::Add(x, Set(1.0f))));
  const FloatVec y = Log2xOrLog1p(x, hn::Add(rest, root));
  return hn::IfThenElse(hn::Ge(x, Set(1.0f)), y, Set(std::numeric_limits<float>::quiet_NaN()));
}

// Infinite at -1 and 1, NaN beyond.
HWY_INLINE FloatVec Atanh(FloatVec x) {
  const FloatVec ax = hn::Abs(x);
  const FloatVec ratio = hn::Div(hn::Add(ax, ax), hn::Sub(Set(1.0f), ax));
  return hn::CopySign(hn::Mul(Set(0.5f), Log1p(ratio)), x);
}

}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
