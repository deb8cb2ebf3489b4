// What fusions ask about values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/ssa_graph.h"

namespace wherry::mir {

// The value of a floating weight of one element.
std::optional<double> ConstantOf(const SSAGraph& graph, const Node* arg);
// Whether it is such a weight and has this value, to the rounding of f32.
bool IsConstant(const SSAGraph& graph, const Node* arg, double value);

// Whether one statement uses the value and it is no graph output: a fusion may take it away.
bool HasOneUse(const SSAGraph& graph, const Node* arg);

// What a statement multiplies an argument by when that is a number: multiply or divide by a weight of one element, or
// scale without a bias. The result has the argument's shape.
struct Factor {
  Node* input;
  double value;
};
std::optional<Factor> FactorOf(const SSAGraph& graph, const Node::Stmt& stmt);

// Erases the producers of these values where nothing uses any of their results, and then likewise what those used.
// Names that the graph no longer has are passed over.
void EraseUnused(SSAGraph* graph, std::vector<std::string> args);

}  // namespace wherry::mir
