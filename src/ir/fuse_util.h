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

// The statement that makes the value, if it is of this operator; else null.
const Node::Stmt* ProducerOf(const Node* arg, const char* op);

inline const std::vector<Dim>& Dims(const Node* arg) { return arg->AsArg().type.dims; }
inline bool HasRank(const Node* arg, int rank) {
  return arg->AsArg().type.rank_known && arg->AsArg().type.rank() == rank;
}

// What a statement multiplies an argument by when that is a number: multiply or divide by a weight of one element, or
// scale without a bias. The result has the argument's shape.
struct Factor {
  Node* input;
  double value;
};
std::optional<Factor> FactorOf(const SSAGraph& graph, const Node::Stmt& stmt);

// Erases what makes `arg` if nothing uses it any more; its producer must have no other result.
void EraseIfUnused(SSAGraph* graph, const Node* arg);

// Erases the producers of these values where nothing uses any of their results, and then likewise what those used.
// Names that the graph no longer has are passed over.
void EraseUnused(SSAGraph* graph, std::vector<std::string> args);

}  // namespace wherry::mir
