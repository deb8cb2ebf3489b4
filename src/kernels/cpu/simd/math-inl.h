// exp, log, tanh, erf, sigmoid on float vectors. Per-instruction-set header: the guard toggles.
//
// The polynomials are our own fits (iteratively reweighted least squares on Chebyshev nodes in double, then rounded to
// float). math_test.cc measures every function over the whole range on every instruction set and holds the bounds
// below.
#if defined(WHERRY_KERNELS_CPU_SIMD_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WHERRY_KERNELS_CPU_SIMD_MATH_INL_H_
#undef WHERRY_KERNELS_CPU_SIMD_MATH_INL_H_
#else
#define WHERRY_KERNELS_CPU_SIMD_MATH_INL_H_
#endif

#include <limits>

#include "kernels/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {

// Horner evaluation, highest power first.
template <int N>
HWY_INLINE FloatVec Polynomial(FloatVec x, const float (&c)[N]) {
  FloatVec p = Set(c[0]);
  WHERRY_UNROLL
  for (int i = 1; i < N; ++i) p = hn::MulAdd(p, x, Set(c[i]));
  return p;
}

// e^x = y 2^n with y near 1; |x| <= 104. `biased` is n + kBias: a float so large that adding to it rounds to integers,
// and its lowest bits are n + 127, the exponent field of 2^n. Converting to integers instead costs twice the
// operations.
struct Exponential {
  static constexpr float kBias = 12582912.0f + 127;  // 1.5 * 2^23 + 127
  FloatVec y;
  FloatVec n;
  FloatVec biased;
  // 2^n for -126 <= n <= 127; 0 for -127, infinity for 128.
  HWY_INLINE FloatVec Pow2() const { return hn::BitCast(FloatTag(), hn::ShiftLeft<23>(hn::BitCast(IntTag(), biased))); }
};
// kWithOne = false: y is less by 1, and as exact. kNegated: of e^-x.
template <bool kWithOne = true, bool kNegated = false>
HWY_INLINE Exponential ReducedExp(FloatVec x) {
  const FloatVec biased = MulAdd(x, Set(kNegated ? -1.44269504f : 1.44269504f), Set(Exponential::kBias));
  const FloatVec n = hn::Sub(biased, Set(Exponential::kBias));
  // ln 2 in two parts: n has at most 8 bits and the high part 15, so the first product is exact without FMA too.
  const FloatVec high = Set(0.693145752f);
  FloatVec r = kNegated ? hn::NegMulSub(n, high, x) : hn::NegMulAdd(n, high, x);
  r = hn::NegMulAdd(n, Set(1.42860677e-6f), r);
  constexpr float kP[] = {0.0013814599f, 0.008368717f, 0.04166839f, 0.16666521f, 0.49999994f};
  const FloatVec y = hn::MulAdd(hn::Mul(r, r), Polynomial(r, kP), r);
  return {kWithOne ? hn::Add(y, Set(1.0f)) : y, n, biased};
}

// As Exp for -87 <= x <= 88, where the result is a normal float; NaN for NaN.
HWY_INLINE FloatVec NormalExp(FloatVec x) {
  const Exponential e = ReducedExp(x);
  return hn::Mul(e.y, e.Pow2());
}

// e^x within 2 ulp; denormal results are exact to their spacing; exp(inf) = inf, exp(-inf) = 0, exp(NaN) = NaN.
HWY_INLINE FloatVec Exp(FloatVec x) {
  // Beyond these the result is 0 or infinite for every float; the clamp keeps the integers below in range.
  const Exponential e = ReducedExp(Clip(x, Set(-104.0f), Set(89.0f)));
#if HWY_TARGET == HWY_AVX3
  return FloatVec{_mm512_scalef_ps(e.y.raw, e.n.raw)};
#else
  // Two steps, because 2^n itself is not a normal float at either end of the range: of the fields n / 2 + 127.
  constexpr int32_t kLess = 0x4B40007F - 2 * 127;  // the bits of kBias are those of n = 0
  const IntVec fields = hn::Sub(hn::BitCast(IntTag(), e.biased), hn::Set(IntTag(), kLess));
  const IntVec one = hn::ShiftRight<1>(fields);
  const IntVec other = hn::Sub(fields, one);
  const FloatVec scaled = hn::Mul(e.y, hn::BitCast(FloatTag(), hn::ShiftLeft<23>(one)));
  return hn::Mul(scaled, hn::BitCast(FloatTag(), hn::ShiftLeft<23>(other)));
#endif
}

// x = m 2^exponent with m in [sqrt(1/2), sqrt(2)), for x > 0 that is a normal float.
struct ReducedFloat {
  FloatVec m;
  IntVec exponent;
};
HWY_INLINE ReducedFloat ReduceForLog(FloatVec x) {
  // Less the bits of sqrt(1/2), the exponent field is the exponent.
  const IntVec bits = hn::BitCast(IntTag(), x);
  const IntVec exponent = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(IntTag(), 0x3F3504F3)));
  return {hn::BitCast(FloatTag(), hn::Sub(bits, hn::ShiftLeft<23>(exponent))), exponent};
}

// log((1 + f) 2^e) for 1 + f as m above.
HWY_INLINE FloatVec LogOfReduced(FloatVec f, FloatVec e) {
  constexpr float kP[] = {0.067466386f, -0.11675651f, 0.11888163f, -0.12405589f, 0.14219552f,
                          -0.16667996f, 0.20002119f,  -0.2500001f, 0.33333313f};
  const FloatVec f2 = hn::Mul(f, f);
  FloatVec y = hn::Mul(hn::Mul(f2, f), Polynomial(f, kP));
  y = hn::MulAdd(e, Set(1.42860677e-6f), y);
  y = hn::NegMulAdd(Set(0.5f), f2, y);
  y = hn::Add(y, f);
  return hn::MulAdd(e, Set(0.693145752f), y);
}

// Natural logarithm within 2 ulp; log(0) = -inf, log(negative) = NaN, log(inf) = inf; denormals are handled.
HWY_INLINE FloatVec Log(FloatVec x) {
  const FloatMask denormal = hn::Lt(x, Set(std::numeric_limits<float>::min()));
  const FloatVec scaled = hn::IfThenElse(denormal, hn::Mul(x, Set(8388608.0f)), x);
  const FloatVec offset = hn::IfThenElseZero(denormal, Set(-23.0f));
  const ReducedFloat reduced = ReduceForLog(scaled);
  const FloatVec e = hn::Add(hn::ConvertTo(FloatTag(), reduced.exponent), offset);
  FloatVec y = LogOfReduced(hn::Sub(reduced.m, Set(1.0f)), e);
  const float inf = std::numeric_limits<float>::infinity();
  y = hn::IfThenElse(hn::Eq(x, Set(inf)), x, y);
  y = hn::IfThenElse(hn::Eq(x, Zero()), Set(-inf), y);
  // Negative or NaN: the comparison is false for both.
  return hn::IfThenElse(hn::Ge(x, Zero()), y, Set(std::numeric_limits<float>::quiet_NaN()));
}

// Within 3 ulp.
HWY_INLINE FloatVec Tanh(FloatVec x) {
  const FloatVec ax = hn::Abs(x);
  const FloatVec s = hn::Mul(x, x);
  constexpr float kP[] = {-0.0057049873f, 0.020639088f, -0.053739715f, 0.13331442f, -0.3333328f};
  const FloatVec small = hn::MulAdd(hn::Mul(x, s), Polynomial(s, kP), x);
  const FloatVec e = Exp(hn::Add(ax, ax));
  const FloatVec large = hn::Sub(Set(1.0f), hn::Div(Set(2.0f), hn::Add(e, Set(1.0f))));
  return hn::IfThenElse(hn::Lt(ax, Set(0.625f)), small, hn::CopySign(large, x));
}

// Within 1.2e-7 absolute and 3 ulp.
HWY_INLINE FloatVec Erf(FloatVec x) {
  const FloatVec ax = hn::Abs(x);
  const FloatVec s = hn::Mul(x, x);
  constexpr float kSmall[] = {7.8538964e-05f, -0.00080102053f, 0.005188329f, -0.026853813f,
                              0.112835854f,   -0.37612626f,    0.12837917f};
  const FloatVec small = hn::MulAdd(x, Polynomial(s, kSmall), x);
  // 1 - e^-g(|x|), g fitted to -log(erfc); erf rounds to 1 from 3.93 on.
  const FloatVec t = Smaller(Set(4.0f), ax);
  constexpr float kLarge[] = {-0.00019242517f, 0.003008529f, -0.02208761f, 0.103640266f,
                              0.6375171f,      1.1274749f,   0.0002447225f};
  const FloatVec large = hn::Sub(Set(1.0f), NormalExp(hn::Neg(Polynomial(t, kLarge))));
  // Not Lt: NaN must take the branch that computes with x itself.
  return hn::IfThenElse(hn::Gt(ax, Set(1.0f)), hn::CopySign(large, x), small);
}

// 2^x for -127 <= x <= 0 within 2e-7 of itself, 0 below -126.5, NaN for NaN; 2^0 is exactly 1. Half the operations of
// Exp.
HWY_INLINE FloatVec NegativeExp2(FloatVec x) {
  const FloatVec biased = hn::Add(x, Set(Exponential::kBias));
  const FloatVec n = hn::Sub(biased, Set(Exponential::kBias));
  constexpr float kP[] = {0.0013264726f, 0.009671513f, 0.055507336f, 0.24022242f, 0.693147f, 1.0f};
  const Exponential e{Polynomial(hn::Sub(x, n), kP), n, biased};
  return hn::Mul(e.y, e.Pow2());
}

// x Phi(x), Phi the normal distribution, within 3e-7, from -1 to 1 within 3e-7 x: max(x, 0) - a Phi(-a) for a = |x|.
// Phi(-a) is 2^-g(a), g(0) = 1, g fitted for the error of a Phi(-a), to 1 of Phi(-a); at 10 it is 2^-55 and stays so.
// Half the operations that an erf for both signs takes.
HWY_INLINE FloatVec Gelu(FloatVec x) {
  const FloatVec a = Smaller(Set(10.0f), hn::Abs(x));
  constexpr float kMinusG[] = {6.467335e-06f, -3.6183834e-05f, -0.00047946622f, 0.0074775475f,
                               -0.052752938f, -0.45913625f,    -1.1511117f,     -1.0f};
  // Of minus infinity NaN, as infinity times 0 is.
  const FloatVec positive = hn::MulAdd(Smaller(Zero(), x), Zero(), Larger(Zero(), x));
  return hn::NegMulAdd(a, NegativeExp2(Polynomial(a, kMinusG)), positive);
}

// 1 / (1 + e^-x) within 3 ulp, for negative x too, down to -87; from there on it may be 0.
HWY_INLINE FloatVec Sigmoid(FloatVec x) {
  // The inverse of what may be as large as a float needs no second branch, and half the operations of Exp: 2^n is a
  // normal float, 0 for n = -127 or infinite for n = 128.
#if HWY_TARGET == HWY_AVX3
  const FloatVec within = Smaller(Set(88.0f), x);  // what is too low is left out in the end
#else
  const FloatVec within = Clip(x, Set(-89.0f), Set(88.0f));
#endif
  const Exponential e = ReducedExp<true, true>(within);
  const FloatVec denominator = MulAdd(e.y, e.Pow2(), Set(1.0f));
#if HWY_TARGET == HWY_AVX3
  // The estimate is good to 14 bits and the step doubles them. A division takes as long as half of the rest, and more
  // on Intel's processors. A vector takes 3.0 ns instead of the 3.6 of e^-|x|, whose quotient is chosen by x's sign.
  const FloatVec estimate{_mm512_rcp14_ps(denominator.raw)};
  const FloatVec error = hn::NegMulAdd(denominator, estimate, Set(1.0f));
  const __mmask16 is_not_below = _mm512_cmp_ps_mask(x.raw, Set(-87.0f).raw, _CMP_NLT_UQ);  // true for NaN
  return FloatVec{_mm512_maskz_fmadd_ps(is_not_below, estimate.raw, error.raw, estimate.raw)};
#else
  return hn::Div(Set(1.0f), denominator);
#endif
}

}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
