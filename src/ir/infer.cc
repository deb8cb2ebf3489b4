// InferMeta over statements: ordinary operators through their schema's function, control flow through its child graphs.
#include <array>

#include "base/check.h"
#include "ir/ssa_graph.h"
#include "op/unknown_dim.h"

namespace wherry::mir {

namespace {

// What is known when either of two values may be the result.
MetaTensor Join(const MetaTensor& a, const MetaTensor& b, SymbolTable* symbols) {
  WHERRY_ENFORCE(a.dtype == b.dtype, kInvalidArgument, "the branches give ", a.DebugString(), " and ", b.DebugString());
  if (!a.rank_known || !b.rank_known || a.rank() != b.rank()) return MetaTensor::UnknownRank(a.dtype);
  MetaTensor joined(a.dtype, a.dims);
  for (size_t i = 0; i < joined.dims.size(); ++i) {
    if (a.dims[i] != b.dims[i]) joined.dims[i] = symbols->FreshSymbol("d");
  }
  if (a.values && a.values == b.values) joined.values = a.values;
  return joined;
}

void InferBlock(SSAGraph* block, const NodeList& captures) {
  WHERRY_CHECK(captures.size() == block->inputs().size(), "a block has ", block->inputs().size(), " inputs for ",
               captures.size(), " captures");
  for (size_t i = 0; i < captures.size(); ++i) block->inputs()[i]->AsArg().type = captures[i]->AsArg().type;
  for (Node* inner : block->StmtTopologicalOrder()) InferStmt(block, inner);
}

void InferControlFlow(SSAGraph* graph, Node* node) {
  Node::Stmt& stmt = node->AsStmt();
  const NodeList& captures = stmt.input_list("captures");
  for (const auto& block : stmt.blocks()) InferBlock(block.get(), captures);
  const Binding& outputs = stmt.outputs();
  const NodeList none;
  const NodeList& results = outputs.empty() ? none : outputs.begin()->second;
  for (const auto& block : stmt.blocks()) {
    WHERRY_ENFORCE(block->outputs().size() == results.size(), kInvalidArgument, "a branch gives ",
                   block->outputs().size(), " values, ", results.size(), " are expected");
  }
  for (size_t i = 0; i < results.size(); ++i) {
    MetaTensor type = stmt.blocks()[0]->outputs()[i]->AsArg().type;
    for (size_t b = 1; b < stmt.blocks().size(); ++b) {
      type = Join(type, stmt.blocks()[b]->outputs()[i]->AsArg().type, &graph->symbols());
    }
    results[i]->AsArg().type = std::move(type);
  }
}

// A dimension that only values or the kernel will give gets a symbol of its own, so that equal dimensions
// downstream are seen to be equal; the one that it had before if it had one.
void NameUnknownDims(const MetaTensor& before, MetaTensor* type, SymbolTable* symbols) {
  const bool had = before.rank_known && type->rank_known && before.rank() == type->rank();
  for (size_t i = 0; i < type->dims.size(); ++i) {
    Dim& dim = type->dims[i];
    if (dim != kUnknownDim) continue;
    dim = had && !before.dims[i].known() ? before.dims[i] : symbols->FreshSymbol("d");
  }
}

void InferOrdinary(SSAGraph* graph, Node* node) {
  Node::Stmt& stmt = node->AsStmt();
  const OpSchema& schema = stmt.schema();
  std::vector<BoundArg> args(schema.args.size());
  for (size_t i = 0; i < schema.args.size(); ++i) {
    const std::string name = schema.args[i].name;
    for (const Node* arg : stmt.input_list(name)) args[i].tensors.push_back(&arg->AsArg().type);
    const auto attr = stmt.attrs().find(name);
    if (attr != stmt.attrs().end()) args[i].attribute = &attr->second;
  }
  std::vector<size_t> counts(schema.outputs.size(), 0);
  for (size_t i = 0; i < schema.outputs.size(); ++i) {
    const auto bound = stmt.outputs().find(schema.outputs[i].name);
    counts[i] = bound == stmt.outputs().end() ? 0 : bound->second.size();
  }
  const auto results = InferMeta(schema, args, counts);
  for (size_t i = 0; i < schema.outputs.size(); ++i) {
    const auto bound = stmt.outputs().find(schema.outputs[i].name);
    if (bound == stmt.outputs().end()) continue;
    for (size_t j = 0; j < bound->second.size(); ++j) {
      MetaTensor type = results[i][j];
      NameUnknownDims(bound->second[j]->AsArg().type, &type, &graph->symbols());
      bound->second[j]->AsArg().type = std::move(type);
    }
  }
}

}  // namespace

void InferStmt(SSAGraph* graph, Node* stmt) {
  const OpSchema& schema = stmt->AsStmt().schema();
  try {
    if (schema.Has(kTraitControlFlow)) {
      InferControlFlow(graph, stmt);
    } else {
      InferOrdinary(graph, stmt);
    }
  } catch (Error& error) {
    const std::string& label = stmt->AsStmt().label();
    error.AddContext(StrCat("inferring op ", schema.name, label.empty() ? "" : " '" + label + "'"));
    throw;
  }
}

}  // namespace wherry::mir
