#include "kernels/cpu/simd/isa.h"

#include <algorithm>

#include "base/check.h"

namespace wherry::cpu {
namespace {

// kBaseline, which no body is compiled for: no ScopedIsa on this thread.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): a ScopedIsa acts where it cannot be passed
constinit thread_local Isa forced_isa = Isa::kBaseline;

}  // namespace

Isa ActiveIsa() { return forced_isa != Isa::kBaseline ? forced_isa : std::max(CpuInfo::Get().isa, kIsas[0]); }

ScopedIsa::ScopedIsa(Isa isa) : previous_(forced_isa) {
  WHERRY_CHECK(isa > Isa::kBaseline && CpuInfo::Get().Has(isa), "no CPU kernels on this machine for ", ToString(isa));
  forced_isa = isa;
}

ScopedIsa::~ScopedIsa() { forced_isa = previous_; }

}  // namespace wherry::cpu
