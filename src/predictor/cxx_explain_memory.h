// Where values lie: a ShapePlan as data.
#pragma once

#include "runtime/plan.h"
#include "wherry/explain.h"

namespace wherry {

MemoryExplanation ExplainMemory(const ShapePlan& plan);

}  // namespace wherry
