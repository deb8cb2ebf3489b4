// A program as a Graphviz digraph: ops are boxes, values ellipses, weights dashed; edges are labelled with parameter
// names.
#pragma once

#include <string>

#include "ir/program.h"

namespace wherry {

std::string ToDot(const Program& program);

}  // namespace wherry
