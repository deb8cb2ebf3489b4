#include "kernels/cpu/simd/isa.h"

#include "base/check.h"
#include "base/cpu_info.h"

namespace wherry::cpu {
namespace {

constexpr const char* kNames[kIsaCount] = {"sse4", "avx2", "avx512"};

// -1: no ScopedIsa on this thread.
constinit thread_local int8_t forced_isa = -1;

}  // namespace

const char* IsaName(Isa isa) { return kNames[static_cast<int>(isa)]; }

bool CpuKernelsSupported() { return CpuInfo::Get().Has(wherry::Isa::kSse4); }

Isa BestIsa() {
  switch (CpuInfo::Get().isa) {
    case wherry::Isa::kAvx512: return Isa::kAvx512;
    case wherry::Isa::kAvx2: return Isa::kAvx2;
    case wherry::Isa::kSse4:
    case wherry::Isa::kBaseline: break;
  }
  return Isa::kSse4;
}

Isa ActiveIsa() { return forced_isa < 0 ? BestIsa() : static_cast<Isa>(forced_isa); }

ScopedIsa::ScopedIsa(Isa isa) : previous_(forced_isa) {
  WHERRY_CHECK(isa <= BestIsa(), "this machine has no ", IsaName(isa));
  forced_isa = static_cast<int8_t>(isa);
}

ScopedIsa::~ScopedIsa() { forced_isa = previous_; }

}  // namespace wherry::cpu
