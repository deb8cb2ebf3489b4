// For tests: runs a body once for every instruction set that this machine has.
#pragma once

#include <gtest/gtest.h>

#include "kernels/cpu/simd/isa.h"

namespace wherry::cpu {

template <typename Body>
void ForEachIsa(const Body& body) {
  for (const Isa isa : kIsas) {
    if (!CpuInfo::Get().Has(isa)) break;
    SCOPED_TRACE(ToString(isa));
    const ScopedIsa scoped(isa);
    body();
  }
}

}  // namespace wherry::cpu
