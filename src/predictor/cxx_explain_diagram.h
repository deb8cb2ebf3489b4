// A program's blocks as the data that pictures are drawn from.
#pragma once

#include <vector>

#include "ir/program.h"
#include "wherry/explain.h"

namespace wherry {

std::vector<Diagram> MakeDiagrams(const Program& program);

}  // namespace wherry
