// Why each operator got its kernel.
#pragma once

#include <memory>
#include <vector>

#include "base/thread_pool.h"
#include "ir/ssa_graph.h"
#include "runtime/plan.h"
#include "wherry/explain.h"

namespace wherry {

// Every operator that kernels run, with its candidates, in the program's order; block by block. Call it when kernels
// have just been picked, before casts are put in: then costs and refusals are those that the pick saw. `picked` follows
// the graph's picks; without any, nothing is. `pool` is what the op would run on; null: one thread.
std::vector<OpExplanation> ExplainKernels(const mir::SSAGraph& graph, const std::shared_ptr<ThreadPool>& pool);
// Runs each candidate that can run by itself, on the call's arguments, but those that ExplainOptions::measure leaves
// out. One that fails, or fits none of these types, has no time.
void MeasureCandidates(const ShapePlan& plan, const PlannedCall& call, OpExplanation* op,
                       const std::shared_ptr<ThreadPool>& pool);
// Whether any statement of the graph or its child graphs has a pick.
bool HasPicks(const mir::SSAGraph& graph);

}  // namespace wherry
