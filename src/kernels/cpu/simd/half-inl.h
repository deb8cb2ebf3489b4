// f16 in memory as floats. Per-instruction-set header: the guard toggles.
#if defined(WHERRY_KERNELS_CPU_SIMD_HALF_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WHERRY_KERNELS_CPU_SIMD_HALF_INL_H_
#undef WHERRY_KERNELS_CPU_SIMD_HALF_INL_H_
#else
#define WHERRY_KERNELS_CPU_SIMD_HALF_INL_H_
#endif

#include "kernels/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {

using HalfTag = hn::Rebind<hwy::float16_t, FloatTag>;

// A vector's worth, exactly: infinities, NaN and subnormals too. One instruction but on SSE4.
HWY_INLINE FloatVec LoadHalves(const hwy::float16_t* p) {
#if HWY_TARGET == HWY_SSE4
  // Highway's own takes infinities and NaN for numbers.
  const IntTag tag;
  const hn::Rebind<uint16_t, FloatTag> halves;
  const IntVec bits = hn::PromoteTo(tag, hn::BitCast(halves, hn::LoadU(HalfTag(), p)));
  const IntVec sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(tag, 0x8000)));
  // Exponent and mantissa where f32 has them; the exponents' biases differ by 112.
  const IntVec magnitude = hn::ShiftLeft<13>(hn::And(bits, hn::Set(tag, 0x7FFF)));
  const IntVec bias = hn::Set(tag, 112 << 23);
  const auto is_beyond = hn::Gt(magnitude, hn::Set(tag, 0x7BFF << 13));
  const IntVec normal = hn::Add(hn::Add(magnitude, bias), hn::IfThenElseZero(is_beyond, bias));
  // Without the leading one that the exponent next to the least stands for.
  const IntVec one = hn::Set(tag, 1 << 23);
  const FloatVec subnormal = hn::Sub(hn::BitCast(FloatTag(), hn::Add(normal, one)), Set(0x1p-14F));
  const FloatVec value =
      hn::IfThenElse(hn::RebindMask(FloatTag(), hn::Lt(magnitude, one)), subnormal, hn::BitCast(FloatTag(), normal));
  return hn::Or(value, hn::BitCast(FloatTag(), sign));
#else
  return hn::PromoteTo(FloatTag(), hn::LoadU(HalfTag(), p));
#endif
}

}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
