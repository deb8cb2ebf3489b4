// Making a failing program small.
#pragma once

#include <functional>

#include "graph_fuzz/check.h"

namespace wherry::graph_fuzz {

// The smallest program found for which `fails` still holds: fewer outputs, ops and inputs, known dimensions.
// `fails` gets programs that may not even run.
Program ReduceProgram(Program program, const std::function<bool(const Program&)>& fails);
// And the fewest passes.
std::vector<std::string> ReduceList(std::vector<std::string> passes,
                                    const std::function<bool(const std::vector<std::string>&)>& fails);

}  // namespace wherry::graph_fuzz
