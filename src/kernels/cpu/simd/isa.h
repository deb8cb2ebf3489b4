// Which instruction set the CPU kernels use, and the tables that choose a kernel body by it.
//
// A body is written once in a file that foreach_isa.h compiles once per instruction set, inside a namespace of its own.
// The file then makes one table per entry point and calls through it:
//
//   namespace wherry::cpu {
//   void Scale(float* x, int64_t n) { WHERRY_ISA_CALL(ScaleImpl)(x, n); }
//   }
//
// Highway's own dispatch (HWY_EXPORT) is not used: it needs libhwy at run time, and keeps process-wide mutable state.
// Ours is a constant table: no constructor, and Highway stays a build-time, header-only dependency.
#pragma once

#include "base/cpu_info.h"

namespace wherry::cpu {

// What kernels that are called from this thread use: CpuInfo::Get().isa, unless a ScopedIsa is alive on this thread.
// Never kBaseline: the first of kIsas (SSE4.2, of every x86 since 2008; NEON) is taken for granted. Kernels choose on
// the thread that calls them and hand the choice to their chunks, so it holds inside the pool as well.
Isa ActiveIsa();

// Forces an instruction set for calls from this thread while it lives. Tests run every body with it. `isa` must be
// above kBaseline and not above CpuInfo::Get().isa.
class ScopedIsa {
 public:
  explicit ScopedIsa(Isa isa);
  ~ScopedIsa();
  ScopedIsa(const ScopedIsa&) = delete;
  ScopedIsa& operator=(const ScopedIsa&) = delete;

 private:
  Isa previous_;
};

// One entry per instruction set, in the order of kIsas. T is a function pointer, or a pointer to a table of them.
template <typename T>
struct IsaTable {
  T entries[kIsas.size()];
  T Active() const { return Of(ActiveIsa()); }
  constexpr T Of(Isa isa) const { return entries[static_cast<int>(isa) - static_cast<int>(kIsas[0])]; }
};

}  // namespace wherry::cpu

// The table of NAME over the per-instruction-set namespaces. NAME may be a function or a constexpr object; use it below
// `#if HWY_ONCE`, in namespace wherry::cpu.
#if defined(__aarch64__)
#define WHERRY_ISA_TABLE(NAME)                       \
  ::wherry::cpu::IsaTable<decltype(&N_NEON::NAME)> { \
    { &N_NEON::NAME }                                \
  }
#elif WHERRY_X86_ISAS == 1
#define WHERRY_ISA_TABLE(NAME)                       \
  ::wherry::cpu::IsaTable<decltype(&N_SSE4::NAME)> { \
    { &N_SSE4::NAME }                                \
  }
#elif WHERRY_X86_ISAS == 2
#define WHERRY_ISA_TABLE(NAME)                       \
  ::wherry::cpu::IsaTable<decltype(&N_SSE4::NAME)> { \
    { &N_SSE4::NAME, &N_AVX2::NAME }                 \
  }
#else
#define WHERRY_ISA_TABLE(NAME)                       \
  ::wherry::cpu::IsaTable<decltype(&N_SSE4::NAME)> { \
    { &N_SSE4::NAME, &N_AVX2::NAME, &N_AVX3::NAME }  \
  }
#endif

// Evaluates to the function NAME of the active instruction set.
#define WHERRY_ISA_CALL(NAME)                              \
  ([]() {                                                  \
    static constexpr auto kTable = WHERRY_ISA_TABLE(NAME); \
    return kTable.Active();                                \
  }())
