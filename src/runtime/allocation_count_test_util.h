// Counts the allocations that this thread makes through operator new, in the test binary that links it.
#pragma once

#include <cstdint>

namespace wherry {

int64_t AllocationCount();

}  // namespace wherry
