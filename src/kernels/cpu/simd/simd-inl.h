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
using FloatMask = hn::Mask<FloatTag>;

// Floats in a vector: 4, 8 or 16. `kLanes` is what loops step by.
inline constexpr int64_t kLanes = HWY_LANES(float);

HWY_INLINE FloatVec Load(const float* p) { return hn::LoadU(FloatTag(), p); }
HWY_INLINE void Store(FloatVec v, float* p) { hn::StoreU(v, FloatTag(), p); }
HWY_INLINE FloatVec Set(float x) { return hn::Set(FloatTag(), x); }
HWY_INLINE FloatVec Zero() { return hn::Zero(FloatTag()); }

// The first n of p (0 <= n <= kLanes), zeros above. Touches no memory past p + n.
HWY_INLINE FloatVec LoadN(const float* p, int64_t n) {
#if HWY_TARGET == HWY_SSE4
  // Four lanes without masked moves: through a buffer.
  HWY_ALIGN float buffer[kLanes] = {};
  std::memcpy(buffer, p, static_cast<size_t>(n) * sizeof(float));
  return hn::Load(FloatTag(), buffer);
#else
  return hn::MaskedLoad(hn::FirstN(FloatTag(), static_cast<size_t>(n)), FloatTag(), p);
#endif
}

// Stores the first n lanes (0 <= n <= kLanes). Touches no memory past p + n.
HWY_INLINE void StoreN(FloatVec v, float* p, int64_t n) {
#if HWY_TARGET == HWY_SSE4
  HWY_ALIGN float buffer[kLanes];
  hn::Store(v, FloatTag(), buffer);
  std::memcpy(p, buffer, static_cast<size_t>(n) * sizeof(float));
#else
  hn::BlendedStore(v, hn::FirstN(FloatTag(), static_cast<size_t>(n)), FloatTag(), p);
#endif
}

// Clamps to [lo, hi] and keeps NaN: x86 min and max return their second operand when either is NaN.
HWY_INLINE FloatVec Clip(FloatVec v, FloatVec lo, FloatVec hi) { return hn::Min(hi, hn::Max(lo, v)); }

}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
