// For tests: runs a body once for every instruction set that this machine has.
#pragma once

#include <gtest/gtest.h>

#include "kernels/cpu/simd/isa.h"

namespace wherry::cpu {

template <typename Body>
void ForEachIsa(const Body& body) {
  for (int i = 0; i <= static_cast<int>(BestIsa()); ++i) {
    const Isa isa = static_cast<Isa>(i);
    SCOPED_TRACE(IsaName(isa));
    const ScopedIsa scoped(isa);
    body();
  }
}

}  // namespace wherry::cpu
