// InferMeta over statements: ordinary operators through their schema's function, control flow through its child graphs.
#include "base/check.h"
#include "ir/ssa_graph.h"
#include "op/control_flow.h"
#include "op/unknown_dim.h"

namespace wherry::mir {

namespace {

// What is known when either of two values may be the result.
MetaTensor Join(const MetaTensor& a, const MetaTensor& b) {
  WHERRY_ENFORCE(a.dtype == b.dtype, kInvalidArgument, "the branches give ", a.DebugString(), " and ", b.DebugString());
  if (!a.rank_known || !b.rank_known || a.rank() != b.rank()) return MetaTensor::UnknownRank(a.dtype);
  MetaTensor joined(a.dtype, a.dims);
  for (size_t i = 0; i < joined.dims.size(); ++i) {
    if (a.dims[i] != b.dims[i]) joined.dims[i] = kUnknownDim;
  }
  if (a.values && a.values == b.values) joined.values = a.values;
  return joined;
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

// Deeper than this a loop's block is inferred once, for any shapes: inferring it again for more general ones at each
// level would take time that grows with 3 to the depth.
constexpr int kMostExactLoops = 3;

void InferStmtAt(SSAGraph* graph, Node* node, int loops);

void InferBlock(SSAGraph* block, const std::vector<MetaTensor>& inputs, int loops) {
  WHERRY_CHECK(inputs.size() == block->inputs().size(), "a block has ", block->inputs().size(), " inputs for ",
               inputs.size(), " values");
  for (size_t i = 0; i < inputs.size(); ++i) block->inputs()[i]->AsArg().type = inputs[i];
  for (Node* inner : block->StmtTopologicalOrder()) InferStmtAt(block, inner, loops);
}

const NodeList& ListOf(const Binding& binding, const char* param) {
  static const NodeList none;
  const auto it = binding.find(param);
  return it == binding.end() ? none : it->second;
}

void InferIf(SSAGraph* graph, Node::Stmt& stmt, int loops) {
  std::vector<MetaTensor> captures;
  for (const Node* capture : stmt.input_list("captures")) captures.push_back(capture->AsArg().type);
  for (const auto& block : stmt.blocks()) InferBlock(block.get(), captures, loops);
  const NodeList& results = ListOf(stmt.outputs(), stmt.schema().outputs[0].name);
  for (const auto& block : stmt.blocks()) {
    WHERRY_ENFORCE(block->outputs().size() == results.size(), kInvalidArgument, "a branch gives ",
                   block->outputs().size(), " values, ", results.size(), " are expected");
  }
  for (size_t i = 0; i < results.size(); ++i) {
    MetaTensor type = stmt.blocks()[0]->outputs()[i]->AsArg().type;
    for (size_t b = 1; b < stmt.blocks().size(); ++b) {
      type = Join(type, stmt.blocks()[b]->outputs()[i]->AsArg().type);
    }
    NameUnknownDims(results[i]->AsArg().type, &type, &graph->symbols());
    results[i]->AsArg().type = std::move(type);
  }
}

// The block is inferred for the shapes that the carried values have at first; where its results have others, again for
// any dimensions, and then for any rank.
void InferLoop(SSAGraph* graph, Node::Stmt& stmt, int loops) {
  SSAGraph* const block = stmt.blocks().at(0).get();
  const NodeList& finals = ListOf(stmt.outputs(), "finals");
  const NodeList& scans = ListOf(stmt.outputs(), "scans");
  std::vector<CarriedType> carried;
  const NodeList& starts = stmt.input_list("carried");
  for (size_t i = 0; i < starts.size(); ++i) {
    const MetaTensor& type = starts[i]->AsArg().type;
    const Node* inside = block->inputs().at(kLoopLeadingInputs + i);
    carried.emplace_back(loops < kMostExactLoops ? type : MetaTensor::UnknownRank(type.dtype), inside->AsArg().type);
  }
  WHERRY_ENFORCE(
      finals.size() == carried.size() && block->outputs().size() == kLoopLeadingOutputs + finals.size() + scans.size(),
      kInvalidArgument, "the block gives ", block->outputs().size(), " values for ", finals.size(), " finals and ",
      scans.size(), " scans");
  for (int pass = 0;; ++pass) {
    std::vector<MetaTensor> inputs = {MetaTensor(DataType::kInt64, {}), MetaTensor::UnknownRank(DataType::kBool)};
    for (const CarriedType& value : carried) inputs.push_back(value.type());
    for (const Node* capture : stmt.input_list("captures")) inputs.push_back(capture->AsArg().type);
    InferBlock(block, inputs, loops + 1);
    bool stable = true;
    for (size_t i = 0; i < carried.size(); ++i) {
      const MetaTensor& next = block->outputs()[kLoopLeadingOutputs + i]->AsArg().type;
      stable = carried[i].Admits(next, pass, &graph->symbols()) && stable;
    }
    if (stable) break;
  }
  for (size_t i = 0; i < finals.size(); ++i) finals[i]->AsArg().type = carried[i].type();
  for (size_t i = 0; i < scans.size(); ++i) {
    MetaTensor type = block->outputs()[kLoopLeadingOutputs + finals.size() + i]->AsArg().type.WithoutValues();
    type.layout = DataLayout::kNCHW;
    if (type.rank_known) type.dims.insert(type.dims.begin(), kUnknownDim);
    NameUnknownDims(scans[i]->AsArg().type, &type, &graph->symbols());
    scans[i]->AsArg().type = std::move(type);
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

void InferStmtAt(SSAGraph* graph, Node* node, int loops) {
  Node::Stmt& stmt = node->AsStmt();
  try {
    if (!stmt.schema().Has(kTraitControlFlow)) {
      InferOrdinary(graph, node);
    } else if (IsLoop(stmt.schema())) {
      InferLoop(graph, stmt, loops);
    } else {
      InferIf(graph, stmt, loops);
    }
  } catch (Error& error) {
    const std::string& label = stmt.label();
    error.AddContext(StrCat("inferring op ", stmt.schema().name, label.empty() ? "" : " '" + label + "'"));
    throw;
  }
}

}  // namespace

void InferStmt(SSAGraph* graph, Node* stmt) { InferStmtAt(graph, stmt, 0); }

}  // namespace wherry::mir
