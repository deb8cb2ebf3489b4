// sin, cos, tan and their inverses on float vectors. Per-instruction-set header: the guard toggles.
//
// The polynomials are our own fits, as those of math-inl.h; math_test.cc holds the bounds.
#if defined(WHERRY_KERNELS_CPU_SIMD_TRIG_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WHERRY_KERNELS_CPU_SIMD_TRIG_INL_H_
#undef WHERRY_KERNELS_CPU_SIMD_TRIG_INL_H_
#else
#define WHERRY_KERNELS_CPU_SIMD_TRIG_INL_H_
#endif

#include <cmath>

#include "kernels/cpu/simd/math-inl.h"
#include "kernels/cpu/simd/pow-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {

// Quarter turns are taken from angles up to this; a larger one, rare and seldom meant, is left to the C library.
inline constexpr float kMostAngle = 1048576.0f;

HWY_INLINE bool IsAnyAngleLarge(FloatVec x) {
  return !hn::AllTrue(FloatTag(), hn::Le(hn::Abs(x), Set(kMostAngle)));  // NaN too
}

// x = r + quarters * pi / 2 with |r| <= pi / 4, for |x| <= kMostAngle.
struct Angle {
  FloatVec r;
  IntVec quarters;
};

// Half a vector, in double precision: near a multiple of pi all 24 bits of r come from behind those of x. The high part
// of pi / 2 has 33 bits and n at most 20, so the first product is exact without FMA too.
template <class Half>
HWY_INLINE void ReduceHalf(Half x, Half& r, Half& n) {
  const DoubleTag d;
  const hn::Half<FloatTag> half;
  const auto wide = hn::PromoteTo(d, x);
  const auto bias = hn::Set(d, 6755399441055744.0);  // 1.5 * 2^52: adding it rounds to integers
  const auto count = hn::Sub(hn::MulAdd(wide, hn::Set(d, 0.63661977236758134), bias), bias);
  const auto rest = hn::NegMulAdd(count, hn::Set(d, 1.5707963267341256), wide);
  r = hn::DemoteTo(half, hn::NegMulAdd(count, hn::Set(d, 6.0771005065061922e-11), rest));
  n = hn::DemoteTo(half, count);
}

HWY_INLINE Angle ReducedAngle(FloatVec x) {
  const hn::Half<FloatTag> half;
  hn::Vec<hn::Half<FloatTag>> low_r, low_n, high_r, high_n;
  ReduceHalf(hn::LowerHalf(half, x), low_r, low_n);
  ReduceHalf(hn::UpperHalf(half, x), high_r, high_n);
  return {hn::Combine(FloatTag(), high_r, low_r), hn::ConvertTo(IntTag(), hn::Combine(FloatTag(), high_n, low_n))};
}

// For |r| <= pi / 4.
HWY_INLINE FloatVec SinOfSmall(FloatVec r, FloatVec square) {
  constexpr float kP[] = {-0.000195164786f, 0.00833217241f, -0.166666552f};
  return hn::MulAdd(hn::Mul(r, square), Polynomial(square, kP), r);
}
HWY_INLINE FloatVec CosOfSmall(FloatVec square) {
  constexpr float kP[] = {2.44375315e-05f, -0.00138873595f, 0.0416666456f};
  const FloatVec y = hn::MulAdd(hn::Mul(square, square), Polynomial(square, kP), hn::Mul(square, Set(-0.5f)));
  return hn::Add(y, Set(1.0f));
}

HWY_INLINE FloatMask IsOdd(IntVec n) {
  return hn::RebindMask(FloatTag(), hn::MaskFromVec(hn::Sub(hn::Zero(IntTag()), hn::And(n, hn::Set(IntTag(), 1)))));
}

// sin of an angle `quarters` further.
HWY_INLINE FloatVec SinOf(FloatVec r, IntVec quarters) {
  const FloatVec square = hn::Mul(r, r);
  const FloatVec y = hn::IfThenElse(IsOdd(quarters), CosOfSmall(square), SinOfSmall(r, square));
  // The second bit of the quarters turns the sign.
  const IntVec sign = hn::ShiftLeft<30>(hn::And(quarters, hn::Set(IntTag(), 2)));
  return hn::Xor(y, hn::BitCast(FloatTag(), sign));
}

// Lane by lane: where one of the angles is too large, infinite or NaN.
HWY_NOINLINE inline FloatVec EachLane(FloatVec x, float (*function)(float)) {
  HWY_ALIGN float lanes[kLanes];
  hn::Store(x, FloatTag(), lanes);
  for (float& lane : lanes) lane = function(lane);
  return hn::Load(FloatTag(), lanes);
}

// Within 2 ulp, as the cosine.
HWY_INLINE FloatVec Sin(FloatVec x) {
  if (HWY_UNLIKELY(IsAnyAngleLarge(x))) return EachLane(x, &std::sin);
  const Angle angle = ReducedAngle(x);
  return SinOf(angle.r, angle.quarters);
}

HWY_INLINE FloatVec Cos(FloatVec x) {
  if (HWY_UNLIKELY(IsAnyAngleLarge(x))) return EachLane(x, &std::cos);
  const Angle angle = ReducedAngle(x);
  return SinOf(angle.r, hn::Add(angle.quarters, hn::Set(IntTag(), 1)));
}

// Within 3 ulp.
HWY_INLINE FloatVec Tan(FloatVec x) {
  if (HWY_UNLIKELY(IsAnyAngleLarge(x))) return EachLane(x, &std::tan);
  const Angle angle = ReducedAngle(x);
  const FloatVec square = hn::Mul(angle.r, angle.r);
  const FloatVec sin = SinOfSmall(angle.r, square);
  const FloatVec cos = CosOfSmall(square);
  const FloatMask odd = IsOdd(angle.quarters);
  return hn::Div(hn::IfThenElse(odd, hn::Neg(cos), sin), hn::IfThenElse(odd, sin, cos));
}

// Within 3 ulp.
HWY_INLINE FloatVec Atan(FloatVec x) {
  const FloatVec ax = hn::Abs(x);
  const FloatVec one = Set(1.0f);
  // An eighth of a turn less beyond tan(pi / 8), a quarter less beyond tan(3 pi / 8): |t| <= tan(pi / 8) is left.
  const FloatMask middle = hn::Gt(ax, Set(0.414213562f));
  const FloatMask far = hn::Gt(ax, Set(2.414213562f));
  FloatVec numerator = hn::IfThenElse(middle, hn::Sub(ax, one), ax);
  FloatVec denominator = hn::IfThenElse(middle, hn::Add(ax, one), one);
  numerator = hn::IfThenElse(far, Set(-1.0f), numerator);
  denominator = hn::IfThenElse(far, ax, denominator);
  const FloatVec turned = hn::IfThenElse(far, Set(1.57079633f), hn::IfThenElseZero(middle, Set(0.785398163f)));
  const FloatVec t = hn::Div(numerator, denominator);
  const FloatVec square = hn::Mul(t, t);
  constexpr float kP[] = {0.0805786699f, -0.138791487f, 0.199778661f, -0.333329529f};
  const FloatVec y = hn::MulAdd(hn::Mul(t, square), Polynomial(square, kP), t);
  return hn::CopySign(hn::Add(turned, y), x);
}

// For |x| <= 1 / 2.
HWY_INLINE FloatVec AsinOfSmall(FloatVec x, FloatVec square) {
  constexpr float kP[] = {0.0422305316f, 0.0241409987f, 0.0454783402f, 0.0749523267f, 0.166667536f};
  return hn::MulAdd(hn::Mul(x, square), Polynomial(square, kP), x);
}

// Beyond 1/2, asin(x) = pi / 2 - 2 asin(sqrt((1 - x) / 2)); NaN beyond 1. Within 3 ulp.
HWY_INLINE FloatVec Asin(FloatVec x) {
  const FloatVec ax = hn::Abs(x);
  const FloatMask large = hn::Gt(ax, Set(0.5f));
  const FloatVec half_rest = hn::NegMulAdd(ax, Set(0.5f), Set(0.5f));
  const FloatVec square = hn::IfThenElse(large, half_rest, hn::Mul(ax, ax));
  const FloatVec y = AsinOfSmall(hn::IfThenElse(large, hn::Sqrt(half_rest), ax), square);
  return hn::CopySign(hn::IfThenElse(large, hn::NegMulAdd(Set(2.0f), y, Set(1.57079633f)), y), x);
}

// Within 2 ulp.
HWY_INLINE FloatVec Acos(FloatVec x) {
  const FloatVec ax = hn::Abs(x);
  const FloatMask large = hn::Gt(ax, Set(0.5f));
  const FloatMask negative = hn::Lt(x, Zero());
  const FloatVec half_rest = hn::NegMulAdd(ax, Set(0.5f), Set(0.5f));
  const FloatVec square = hn::IfThenElse(large, half_rest, hn::Mul(ax, ax));
  const FloatVec y = AsinOfSmall(hn::IfThenElse(large, hn::Sqrt(half_rest), x), square);
  const FloatVec twice = hn::Add(y, y);
  const FloatVec far = hn::IfThenElse(negative, hn::Sub(Set(3.14159265f), twice), twice);
  return hn::IfThenElse(large, far, hn::Sub(Set(1.57079633f), y));
}

}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
