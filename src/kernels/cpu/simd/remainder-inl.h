// Remainders of divisions of float vectors, in double precision within. Per-instruction-set header: the guard toggles.
#if defined(WHERRY_KERNELS_CPU_SIMD_REMAINDER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WHERRY_KERNELS_CPU_SIMD_REMAINDER_INL_H_
#undef WHERRY_KERNELS_CPU_SIMD_REMAINDER_INL_H_
#else
#define WHERRY_KERNELS_CPU_SIMD_REMAINDER_INL_H_
#endif

#include <cmath>
#include <limits>

#include "kernels/cpu/simd/pow-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {

// Lane by lane: quotients of many digits, infinities and NaN.
HWY_NOINLINE inline DoubleVec FmodOfEachLane(DoubleVec x, DoubleVec y) {
  constexpr int64_t kCount = kLanes / 2;
  HWY_ALIGN double dividend[kCount];
  HWY_ALIGN double divisor[kCount];
  hn::Store(x, DoubleTag(), dividend);
  hn::Store(y, DoubleTag(), divisor);
  for (int64_t i = 0; i < kCount; ++i) dividend[i] = std::fmod(dividend[i], divisor[i]);
  return hn::Load(DoubleTag(), dividend);
}

// Of floats, exact. Their quotient, below 2^27, cannot round up to a whole number: it is either one or at least 2^-52
// of itself below. The product with the divisor has at most 51 bits then, and the difference no more than a float's.
HWY_INLINE DoubleVec FmodOfFloats(DoubleVec x, DoubleVec y) {
  const DoubleTag d;
  const DoubleVec quotient = hn::Trunc(hn::Div(x, y));
  const auto simple = hn::And(hn::Lt(hn::Abs(quotient), hn::Set(d, 134217728.0)),
                              hn::Lt(hn::Abs(y), hn::Set(d, std::numeric_limits<double>::infinity())));
  if (HWY_UNLIKELY(!hn::AllTrue(d, simple))) return FmodOfEachLane(x, y);
  return hn::CopySign(hn::NegMulAdd(quotient, y, x), x);
}

// As fmod, but with the sign of y.
HWY_INLINE DoubleVec FloorRemainderOfFloats(DoubleVec x, DoubleVec y) {
  const DoubleTag d;
  const DoubleVec zero = hn::Zero(d);
  const DoubleVec r = FmodOfFloats(x, y);
  // Of two signs, neither zero nor NaN.
  const auto turns = hn::Lt(hn::Mul(hn::CopySign(hn::Set(d, 1.0), y), r), zero);
  return hn::IfThenElse(hn::Eq(r, zero), hn::CopySign(zero, y), hn::IfThenElse(turns, hn::Add(r, y), r));
}

template <DoubleVec (*kFunction)(DoubleVec, DoubleVec)>
HWY_INLINE FloatVec InDoubles(FloatVec x, FloatVec y) {
  const DoubleTag d;
  const hn::Half<FloatTag> half;
  const DoubleVec low = kFunction(hn::PromoteTo(d, hn::LowerHalf(half, x)), hn::PromoteTo(d, hn::LowerHalf(half, y)));
  const DoubleVec high = kFunction(hn::PromoteTo(d, hn::UpperHalf(half, x)), hn::PromoteTo(d, hn::UpperHalf(half, y)));
  return hn::Combine(FloatTag(), hn::DemoteTo(half, high), hn::DemoteTo(half, low));
}

// As C's fmod, exact.
HWY_INLINE FloatVec Fmod(FloatVec x, FloatVec y) { return InDoubles<&FmodOfFloats>(x, y); }
// As Python's %.
HWY_INLINE FloatVec FloorRemainder(FloatVec x, FloatVec y) { return InDoubles<&FloorRemainderOfFloats>(x, y); }

}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
