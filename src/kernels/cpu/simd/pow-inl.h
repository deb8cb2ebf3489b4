// x^y on float vectors, in double precision within. Per-instruction-set header: the guard toggles.
#if defined(WHERRY_KERNELS_CPU_SIMD_POW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WHERRY_KERNELS_CPU_SIMD_POW_INL_H_
#undef WHERRY_KERNELS_CPU_SIMD_POW_INL_H_
#else
#define WHERRY_KERNELS_CPU_SIMD_POW_INL_H_
#endif

#include <limits>

#include "kernels/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {

using DoubleTag = hn::Repartition<double, FloatTag>;
using DoubleVec = hn::Vec<DoubleTag>;

template <int N>
HWY_INLINE DoubleVec Polynomial(DoubleVec x, const double (&c)[N]) {
  DoubleVec p = hn::Set(DoubleTag(), c[0]);
  WHERRY_UNROLL
  for (int i = 1; i < N; ++i) p = hn::MulAdd(p, x, hn::Set(DoubleTag(), c[i]));
  return p;
}

// log2 of floats above 0, as doubles (so denormal floats are normal here), within 2^-43; a finite number for 0,
// infinity and NaN.
HWY_INLINE DoubleVec Log2OfPositive(DoubleVec x) {
  const DoubleTag d;
  const hn::RebindToSigned<DoubleTag> di;
  // As in Log: m in [sqrt(1/2), sqrt(2)), x = m * 2^e.
  const auto bits = hn::BitCast(di, x);
  const auto shifted = hn::ShiftRight<52>(hn::Sub(bits, hn::Set(di, 0x3FE6A09E667F3BCD)));
  const DoubleVec m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<52>(shifted)));
  // e is a double by its lowest bits: converting 64-bit integers takes AVX-512.
  constexpr double kBias = 6755399441055744.0;  // 1.5 * 2^52
  const DoubleVec bias = hn::Set(d, kBias);
  const DoubleVec e = hn::Sub(hn::BitCast(d, hn::Add(shifted, hn::BitCast(di, bias))), bias);
  const DoubleVec one = hn::Set(d, 1.0);
  const DoubleVec s = hn::Div(hn::Sub(m, one), hn::Add(m, one));
  constexpr double kP[] = {0.279390473508731,  0.32017363915797326, 0.4122020130492497,
                           0.5770780234119596, 0.9617966937917345,  2.8853900817780174};
  return hn::MulAdd(Polynomial(hn::Mul(s, s), kP), s, e);
}

// 2^x as a double within 2^-29, for -400 <= x <= 400.
HWY_INLINE DoubleVec Exp2(DoubleVec x) {
  const DoubleTag d;
  constexpr double kBias = 6755399441055744.0 + 1023;  // its lowest bits are then an exponent's field
  const DoubleVec bias = hn::Set(d, kBias);
  const DoubleVec biased = hn::Add(x, bias);
  const DoubleVec f = hn::Sub(x, hn::Sub(biased, bias));
  constexpr double kP[] = {0.00015345798802819888, 0.0013399931113388108, 0.009618489006207966, 0.05550328777295084,
                           0.24022646890180374,    0.6931472057370631,    1.0000000005542269};
  const hn::RebindToSigned<DoubleTag> di;
  return hn::Mul(Polynomial(f, kP), hn::BitCast(d, hn::ShiftLeft<52>(hn::BitCast(di, biased))));
}

// x^y for x >= 0, infinite or NaN; y is not 0 where x is 0 or infinite.
HWY_INLINE DoubleVec PowOfPositive(DoubleVec x, DoubleVec y) {
  const DoubleTag d;
  const DoubleVec infinity = hn::Set(d, std::numeric_limits<double>::infinity());
  const DoubleVec one = hn::Set(d, 1.0);
  DoubleVec log = Log2OfPositive(x);
  log = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(infinity), log);
  log = hn::IfThenElse(hn::Lt(x, infinity), log, x);  // infinity and NaN are their own
  const DoubleVec p = hn::Mul(y, log);
  // Floats end at 2^128 and 2^-149; a comparison with NaN is false.
  DoubleVec result = Exp2(hn::Min(hn::Max(p, hn::Set(d, -200.0)), hn::Set(d, 200.0)));
  result = hn::IfThenElse(hn::Eq(p, p), result, p);
  return hn::IfThenElse(hn::Eq(x, one), one, result);
}

// x^y within 0.54 ulp; zeros, infinities, NaN, negative numbers and signs as
// C's powf: 1 where y is 0 or x is 1, whatever the other, NaN for a negative x and a fraction y.
HWY_INLINE FloatVec Pow(FloatVec x, FloatVec y) {
  const DoubleTag d;
  const hn::Half<FloatTag> half;
  const FloatVec ax = hn::Abs(x);
  const DoubleVec low =
      PowOfPositive(hn::PromoteTo(d, hn::LowerHalf(half, ax)), hn::PromoteTo(d, hn::LowerHalf(half, y)));
  const DoubleVec high =
      PowOfPositive(hn::PromoteTo(d, hn::UpperHalf(half, ax)), hn::PromoteTo(d, hn::UpperHalf(half, y)));
  FloatVec result = hn::Combine(FloatTag(), hn::DemoteTo(half, high), hn::DemoteTo(half, low));
  // All floats from 2^24 on are even.
  const FloatMask integer = hn::Eq(hn::Round(y), y);
  const FloatVec halved = hn::Mul(y, Set(0.5f));
  const FloatMask odd = hn::And(integer, hn::Not(hn::Eq(hn::Round(halved), halved)));
  result = hn::IfThenElse(odd, hn::CopySignToAbs(result, x), result);
  const FloatMask root_of_negative = hn::And(hn::Lt(x, Zero()), hn::Not(integer));
  const FloatMask finite_root = hn::And(root_of_negative, hn::Gt(x, Set(-std::numeric_limits<float>::infinity())));
  result = hn::IfThenElse(finite_root, Set(std::numeric_limits<float>::quiet_NaN()), result);
  return hn::IfThenElse(hn::Eq(y, Zero()), Set(1.0f), result);
}

}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
