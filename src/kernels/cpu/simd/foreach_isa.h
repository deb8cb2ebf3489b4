// Compiles the including file once per instruction set. Before it: #undef and #define HWY_TARGET_INCLUDE as the
// including file's own path below src/. After it: an empty line (or clang-format sorts), simd-inl.h and other -inl.h
// files, the bodies, and `#if HWY_ONCE`.
//
// Bodies stand in an anonymous namespace inside `namespace wherry::cpu::HWY_NAMESPACE`, between HWY_BEFORE_NAMESPACE()
// and HWY_AFTER_NAMESPACE(). Lambdas do not get the target attributes from clang: use structs with a templated call
// instead.
//
// No include guard: that is the mechanism.

#include "base/cpu_info.h"

// On x86 SSE4 is the lowest set (not Highway's scalar emulation): machines without it run the reference kernels. SSSE3
// and the AVX-512 extension for Ice Lake are left out because no f32 body gains from them; each costs a whole
// compilation. On ARM there is NEON alone: SVE's vectors have no size that the compiler knows.
#ifndef HWY_DISABLED_TARGETS
#if defined(__aarch64__)
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#else
#define HWY_BASELINE_TARGETS HWY_SSE4
#if WHERRY_X86_ISAS == 1
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX2 | HWY_AVX3 | HWY_AVX3_DL)
#elif WHERRY_X86_ISAS == 2
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3 | HWY_AVX3_DL)
#else
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#endif
#endif
// Highway's debug assertions call into libhwy, which is not linked.
#define HWY_IS_DEBUG_BUILD 0
#endif

#include "hwy/foreach_target.h"
