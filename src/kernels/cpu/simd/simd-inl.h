// What every body sees: Highway under the name hn, the widest float vector, and loads and stores of partial vectors.
// Per-instruction-set header: the guard toggles.
#if defined(WHERRY_KERNELS_CPU_SIMD_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WHERRY_KERNELS_CPU_SIMD_SIMD_INL_H_
#undef WHERRY_KERNELS_CPU_SIMD_SIMD_INL_H_
#else
#define WHERRY_KERNELS_CPU_SIMD_SIMD_INL_H_
#endif

#include <cstdint>
#include <cstring>

#include "hwy/highway.h"

// Full unrolling of a loop over a constant count: accumulator arrays live in registers only if every index is constant.
#define WHERRY_UNROLL _Pragma("GCC unroll 64")

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using IntTag = hn::RebindToSigned<FloatTag>;
using FloatVec = hn::Vec<FloatTag>;
using IntVec = hn::Vec<IntTag>;
using WordTag = hn::Repartition<int16_t, IntTag>;
using WordVec = hn::Vec<WordTag>;
using FloatMask = hn::Mask<FloatTag>;

// Floats in a vector: 4, 8 or 16. `kLanes` is what loops step by.
inline constexpr int64_t kLanes = HWY_LANES(float);

HWY_INLINE FloatVec Load(const float* p) { return hn::LoadU(FloatTag(), p); }
HWY_INLINE void Store(FloatVec v, float* p) { hn::StoreU(v, FloatTag(), p); }
HWY_INLINE FloatVec Set(float x) { return hn::Set(FloatTag(), x); }
HWY_INLINE FloatVec Zero() { return hn::Zero(FloatTag()); }

// Vector registers.
inline constexpr int kRegisters = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON ? 32 : 16;

// Masked loads (with AVX-512 stores too), or partial vectors go through a buffer.
inline constexpr bool kMaskedMoves = HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3;

// The first n of p (0 <= n <= kLanes), zeros above. Touches no memory past p + n.
HWY_INLINE FloatVec LoadN(const float* p, int64_t n) {
  if constexpr (kMaskedMoves) return hn::MaskedLoad(hn::FirstN(FloatTag(), static_cast<size_t>(n)), FloatTag(), p);
  HWY_ALIGN float buffer[kLanes] = {};
  std::memcpy(buffer, p, static_cast<size_t>(n) * sizeof(float));
  return hn::Load(FloatTag(), buffer);
}

// Stores the first n lanes (0 <= n <= kLanes). Touches no memory past p + n.
HWY_INLINE void StoreN(FloatVec v, float* p, int64_t n) {
#if HWY_TARGET == HWY_AVX3
  hn::BlendedStore(v, hn::FirstN(FloatTag(), static_cast<size_t>(n)), FloatTag(), p);
#else
  if (n == kLanes) return Store(v, p);
  // In halves: a masked store of AVX2 takes 12 cycles or more on AMD's processors.
  const hn::CappedTag<float, 4> four;
  const hn::CappedTag<float, 2> two;
#if HWY_TARGET == HWY_AVX2
  auto part = hn::LowerHalf(four, v);
  if ((n & 4) != 0) {
    hn::StoreU(part, four, p);
    p += 4;
    part = hn::UpperHalf(four, v);
  }
#else
  auto part = v;
#endif
  if ((n & 2) != 0) {
    hn::StoreU(hn::LowerHalf(two, part), two, p);
    p += 2;
    part = hn::ShiftRightLanes<2>(four, part);
  }
  if ((n & 1) != 0) *p = hn::GetLane(part);
#endif
}

// The larger and the smaller of two; NaN if b is NaN. If only a is NaN, b on x86 and NaN on ARM (whose instructions
// that Highway takes would give the number in both cases).
#if HWY_TARGET == HWY_NEON
HWY_INLINE FloatVec Larger(FloatVec a, FloatVec b) { return FloatVec(vmaxq_f32(a.raw, b.raw)); }
HWY_INLINE FloatVec Smaller(FloatVec a, FloatVec b) { return FloatVec(vminq_f32(a.raw, b.raw)); }
#else
HWY_INLINE FloatVec Larger(FloatVec a, FloatVec b) { return hn::Max(a, b); }
HWY_INLINE FloatVec Smaller(FloatVec a, FloatVec b) { return hn::Min(a, b); }
#endif

// Clamps to [lo, hi] and keeps NaN.
HWY_INLINE FloatVec Clip(FloatVec v, FloatVec lo, FloatVec hi) { return Smaller(hi, Larger(lo, v)); }

// acc plus, in each lane, the two products of that lane's words.
HWY_INLINE IntVec AddWordProducts(IntVec acc, WordVec a, WordVec b) {
#if HWY_TARGET == HWY_NEON
  const int32x4_t low = vmull_s16(vget_low_s16(a.raw), vget_low_s16(b.raw));
  return IntVec(vaddq_s32(acc.raw, vpaddq_s32(low, vmull_high_s16(a.raw, b.raw))));
#else
  IntVec unused = hn::Zero(IntTag());
  return hn::ReorderWidenMulAccumulate(IntTag(), a, b, acc, unused);
#endif
}

}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
