#include "kernels/cpu/vector/beyond.h"

#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/vector/beyond.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

constexpr int64_t kBlock = 64;

template <bool kAbove>
HWY_INLINE FloatMask Within(FloatVec v, FloatVec limit) {
  return kAbove ? hn::Le(v, limit) : hn::Ge(v, limit);
}

template <bool kAbove>
int64_t Skip(const float* x, int64_t n, float bound) {
  const FloatVec limit = Set(bound);
  int64_t at = 0;
  for (; at + kBlock <= n; at += kBlock) {
    FloatMask all = Within<kAbove>(Load(x + at), limit);
    WHERRY_UNROLL
    for (int64_t i = kLanes; i < kBlock; i += kLanes) all = hn::And(all, Within<kAbove>(Load(x + at + i), limit));
    if (!hn::AllTrue(FloatTag(), all)) return at;
  }
  for (int64_t i = at; i < n; ++i) {
    if (!(kAbove ? x[i] <= bound : x[i] >= bound)) return at;
  }
  return n;
}

int64_t SkipEither(const float* x, int64_t n, float bound, bool above) {
  return above ? Skip<true>(x, n, bound) : Skip<false>(x, n, bound);
}

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {

int64_t SkipToBeyond(const float* x, int64_t n, float bound, bool above) {
  return WHERRY_ISA_CALL(SkipEither)(x, n, bound, above);
}

}  // namespace wherry::cpu
#endif  // HWY_ONCE
