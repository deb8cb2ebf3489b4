// Four products of bytes and their sum as one instruction. Per-instruction-set header: the guard toggles.
#if defined(WHERRY_KERNELS_CPU_QUANTIZED_BYTE_DOT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WHERRY_KERNELS_CPU_QUANTIZED_BYTE_DOT_INL_H_
#undef WHERRY_KERNELS_CPU_QUANTIZED_BYTE_DOT_INL_H_
#else
#define WHERRY_KERNELS_CPU_QUANTIZED_BYTE_DOT_INL_H_
#endif

#include "kernels/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {

// Whether the instruction is there on some machines of this set.
inline constexpr bool kByteDot = HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3;

// acc + the four products of u8 `a` and i8 `w` in each lane. As text, because Highway's targets do not have it: a body
// that uses it runs only where HasByteDot says so.
[[maybe_unused]] HWY_INLINE IntVec Dot(IntVec acc, IntVec a, IntVec w) {
#if HWY_TARGET == HWY_AVX3
  asm("vpdpbusd %2, %1, %0" : "+v"(acc.raw) : "v"(a.raw), "v"(w.raw));
#elif HWY_TARGET == HWY_AVX2
  asm("%{vex%} vpdpbusd %2, %1, %0" : "+v"(acc.raw) : "v"(a.raw), "v"(w.raw));
#else
  (void)a;
  (void)w;
#endif
  return acc;
}

}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
