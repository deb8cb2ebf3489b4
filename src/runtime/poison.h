// For tests: memory that holds no value is filled with what no value should be, so that a kernel which reads a value
// after its lifetime, or before anyone wrote it, gives a result that is plainly wrong.
#pragma once

#include "runtime/plan.h"

namespace wherry {

// NaN in floats, 0xCD bytes in anything else: what the plan's calls are to write.
void PoisonResults(ShapePlan* plan);
// What is no longer read after the plan's call number `step`, and the scratch memory.
void PoisonAfter(int step, ShapePlan* plan, const CpuContext& context);

}  // namespace wherry
