#include "kernels/cpu/simd/isa.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/check.h"

namespace wherry::cpu {
namespace {

constexpr const char* kNames[kIsaCount] = {"sse4", "avx2", "avx512"};

// -1: no ScopedIsa on this thread.
constinit thread_local int8_t forced_isa = -1;

// The feature lists are those of Highway's targets, whose code uses all of them. The compiler's builtin also checks
// that the operating system saves the wider registers.
Isa Detect() {
  __builtin_cpu_init();
  Isa best = Isa::kSse4;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) {
    best = Isa::kAvx2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw")) {
      best = Isa::kAvx512;
    }
  }
  if (const char* cap = std::getenv("WHERRY_MAX_ISA")) {
    bool known = false;
    for (int i = 0; i < kIsaCount; ++i) {
      if (std::string_view(cap) == kNames[i]) {
        best = std::min(best, static_cast<Isa>(i));
        known = true;
      }
    }
    WHERRY_ENFORCE(known, kInvalidArgument, "WHERRY_MAX_ISA is '", cap, "'; expected sse4, avx2 or avx512");
  }
  return best;
}

}  // namespace

const char* IsaName(Isa isa) { return kNames[static_cast<int>(isa)]; }

bool CpuKernelsSupported() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("sse4.2") != 0;
}

Isa BestIsa() {
  static const Isa best = Detect();
  return best;
}

Isa ActiveIsa() { return forced_isa < 0 ? BestIsa() : static_cast<Isa>(forced_isa); }

ScopedIsa::ScopedIsa(Isa isa) : previous_(forced_isa) {
  WHERRY_CHECK(isa <= BestIsa(), "this machine has no ", IsaName(isa));
  forced_isa = static_cast<int8_t>(isa);
}

ScopedIsa::~ScopedIsa() { forced_isa = previous_; }

}  // namespace wherry::cpu
