// InferMeta over statements: ordinary operators through their schema's function, control flow through its child graphs.
#include "base/check.h"
#include "ir/ssa_graph.h"
#include "op/control_flow.h"
#include "op/infer_in_block.h"
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

void InferStmtAt(SSAGraph* graph, Node* node, int loops);

void InferBlock(SSAGraph* block, const std::vector<MetaTensor>& inputs, int loops) {
  WHERRY_CHECK(inputs.size() == block->inputs().size(), "a block has ", block->inputs().size(), " inputs for ",
               inputs.size(), " values");
  for (size_t i = 0; i < inputs.size(); ++i) block->inputs()[i]->AsArg().type = inputs[i];
  for (Node* inner : block->StmtTopologicalOrder()) InferStmtAt(block, inner, loops);
}

void InferIf(SSAGraph* graph, Node::Stmt& stmt, int loops) {
  std::vector<MetaTensor> captures;
  for (const Node* capture : stmt.input_list("captures")) captures.push_back(capture->AsArg().type);
  for (const auto& block : stmt.blocks()) InferBlock(block.get(), captures, loops);
  const NodeList& results = stmt.output_list(stmt.schema().outputs[0].name);
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
  const NodeList& finals = stmt.output_list("finals");
  const NodeList& scans = stmt.output_list("scans");
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

// Once inlined, what a branch cannot do is an error.
void InferOrdinary(SSAGraph* graph, const Node::Stmt& stmt) {
  const OpSchema& schema = stmt.schema();
  std::vector<size_t> counts;
  for (const OutputDef& output : schema.outputs) counts.push_back(stmt.output_list(output.name).size());
  const auto infer = graph->is_child() ? &InferMetaInBlock : &InferMeta;
  const auto types = infer(schema, BindArgs(stmt), counts);
  for (size_t i = 0; i < schema.outputs.size(); ++i) {
    const NodeList& results = stmt.output_list(schema.outputs[i].name);
    for (size_t j = 0; j < results.size(); ++j) {
      MetaTensor type = types[i][j];
      NameUnknownDims(results[j]->AsArg().type, &type, &graph->symbols());
      results[j]->AsArg().type = std::move(type);
    }
  }
}

void InferStmtAt(SSAGraph* graph, Node* node, int loops) {
  Node::Stmt& stmt = node->AsStmt();
  try {
    if (!stmt.schema().Has(kTraitControlFlow)) {
      InferOrdinary(graph, stmt);
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

std::vector<BoundArg> BindArgs(const Node::Stmt& stmt) {
  const OpSchema& schema = stmt.schema();
  std::vector<BoundArg> bound(schema.args.size());
  for (size_t i = 0; i < bound.size(); ++i) {
    const std::string name = schema.args[i].name;
    for (const Node* arg : stmt.input_list(name)) bound[i].tensors.push_back(&arg->AsArg().type);
    const auto attribute = stmt.attrs().find(name);
    if (attribute != stmt.attrs().end()) bound[i].attribute = &attribute->second;
  }
  return bound;
}

void InferStmt(SSAGraph* graph, Node* stmt) { InferStmtAt(graph, stmt, 0); }

}  // namespace wherry::mir
