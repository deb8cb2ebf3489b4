// The layout of panels that this instruction set's tiles read. Per-instruction-set header: the guard toggles.
#if defined(WHERRY_KERNELS_CPU_GEMM_LAYOUT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WHERRY_KERNELS_CPU_GEMM_LAYOUT_INL_H_
#undef WHERRY_KERNELS_CPU_GEMM_LAYOUT_INL_H_
#else
#define WHERRY_KERNELS_CPU_GEMM_LAYOUT_INL_H_
#endif

#include "kernels/cpu/gemm/gemm.h"
#include "kernels/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {

// What WeightLayout() gives where this instruction set is active.
inline constexpr PanelLayout kWeightLayout = kLanes == kPanelStep ? PanelLayout::kRows : PanelLayout::kGroups;

}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
