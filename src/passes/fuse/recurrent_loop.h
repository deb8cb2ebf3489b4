// Loops over the steps of a sequence whose body is a recurrent layer of one step.
#pragma once

#include "ir/ssa_graph.h"

namespace wherry::mir {

// Makes the statement, a loop, one layer (`rnn`) over all steps, if its body takes each row of one captured value in
// turn and does nothing but such a step; says whether it did.
bool FuseRecurrentLoop(SSAGraph* graph, Node* loop);

}  // namespace wherry::mir
