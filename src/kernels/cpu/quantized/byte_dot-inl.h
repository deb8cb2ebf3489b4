// Four products of bytes and their sum as one instruction; two of words. Per-instruction-set header: the guard toggles.
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

// As AddWordProducts. GCC would load all rows of a tile first, and keep sums in memory or in two registers each, twice
// as slow: the text keeps the order, and each sum where it is.
[[maybe_unused]] HWY_INLINE IntVec AddInPlace(IntVec acc, WordVec x, WordVec w) {
#if HWY_TARGET == HWY_NEON
  return AddWordProducts(acc, x, w);
#else
  const IntVec products = AddWordProducts(hn::Zero(IntTag()), x, w);
#if HWY_TARGET == HWY_SSE4
  asm volatile("paddd %1, %0" : "+x"(acc.raw) : "x"(products.raw) : "memory");
#else
  asm volatile("vpaddd %1, %0, %0" : "+v"(acc.raw) : "v"(products.raw) : "memory");
#endif
  return acc;
#endif
}

}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
