#include "kernels/cpu/vector/wide_sum.h"

#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/vector/wide_sum.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

using DoubleTag = hn::ScalableTag<double>;
using HalfTag = hn::Rebind<float, DoubleTag>;

void Add(const float* HWY_RESTRICT from, double* HWY_RESTRICT to, int64_t n) {
  constexpr int64_t kDoubles = kLanes / 2;
  int64_t i = 0;
  for (; i + kDoubles <= n; i += kDoubles) {
    const auto more = hn::PromoteTo(DoubleTag(), hn::LoadU(HalfTag(), from + i));
    hn::StoreU(hn::Add(hn::LoadU(DoubleTag(), to + i), more), DoubleTag(), to + i);
  }
  for (; i < n; ++i) to[i] += static_cast<double>(from[i]);
}

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {

AddWide ActiveAddWide() { return WHERRY_ISA_CALL(Add); }

}  // namespace wherry::cpu
#endif  // HWY_ONCE
