#include "ir/program.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "ir/ssa_graph.h"
#include "op/control_flow.h"
#include "op/memory_piece.h"
#include "op/schema_registry.h"

namespace wherry {

Program Program::Clone() const { return Program(*this); }

namespace {

// Whether the schema lets this result use that operand's memory.
bool MayShare(const OpSchema& schema, const OpDesc& op, const std::string& result, const std::string& operand) {
  const auto is = [&](int8_t arg, int8_t output) {
    const std::vector<std::string>& from = op.Input(schema.args[static_cast<size_t>(arg)].name);
    const std::vector<std::string>& to = op.Output(schema.outputs[static_cast<size_t>(output)].name);
    return from.size() == 1 && from[0] == operand && to.size() == 1 && to[0] == result;
  };
  if (GivesPieces(schema)) {
    const std::vector<std::string>& results = op.Output(schema.outputs[0].name);
    return op.Input("x").size() == 1 && op.Input("x")[0] == operand &&
           std::find(results.begin(), results.end(), result) != results.end();
  }
  return (schema.Has(kTraitView) && is(0, 0)) ||
         std::any_of(schema.inplace.begin(), schema.inplace.end(),
                     [&is](const ArgOutputPair& pair) { return is(pair.arg, pair.output); });
}

// Values that are bound to an argument or output.
size_t CountOf(const OpDesc& op, const char* param) { return op.Input(param).size() + op.Output(param).size(); }

void VerifyBlock(const Program& program, size_t index) {
  const Block& block = program.blocks[index];
  std::set<std::string> defined;
  const std::set<std::string> inputs(block.inputs.begin(), block.inputs.end());
  std::set<std::string> produced;                        // by ops
  std::set<std::pair<std::string, std::string>> joined;  // a value that a later op puts into its result, and that
  if (!block.aliases.empty()) {
    for (const OpDesc& op : block.ops) {
      if (!TakesPieces(SchemaRegistry::Global().Get(op.Type())) || op.Output("out").empty()) continue;
      for (const std::string& part : op.Input("x")) joined.emplace(part, op.Output("out")[0]);
    }
  }
  // `by` says who, for messages.
  const auto define = [&](const std::string& name, const auto& by) {
    WHERRY_ENFORCE(defined.insert(name).second, kInvalidArgument, by(), " defines value '", name,
                   "', which is already defined");
    WHERRY_ENFORCE(program.weights.count(name) == 0, kInvalidArgument, by(), " defines value '", name,
                   "', which is a weight");
  };
  const auto use = [&](const std::string& name, const auto& by) {
    WHERRY_ENFORCE(defined.count(name) != 0 || program.weights.count(name) != 0, kInvalidArgument, by(),
                   " uses value '", name, "', which is neither an input, a weight nor the result of an earlier op");
  };
  for (const std::string& name : block.inputs) {
    define(name, [] { return "the block's input list"; });
    WHERRY_ENFORCE(block.values.count(name) != 0, kInvalidArgument, "input '", name, "' has no type");
  }
  for (const OpDesc& op : block.ops) {
    OpDesc copy = op;
    const OpSchema& schema = SchemaRegistry::Global().Get(op.Type());
    ValidateOpDesc(schema, &copy);
    const auto by = [&op] { return StrCat("op ", op.Type(), op.label().empty() ? "" : " '" + op.label() + "'"); };
    for (const auto& [param, names] : op.inputs()) {
      for (const std::string& name : names) use(name, by);
    }
    for (const auto& [param, names] : op.outputs()) {
      for (const std::string& name : names) {
        define(name, by);
        const auto alias = block.aliases.find(name);
        if (alias == block.aliases.end()) continue;
        // Memory comes from an earlier result, or from a concat that puts the value into it: so there is no circle (no
        // concat's result comes from an earlier one). No weight is written over, and no input, which may be viewed.
        if (joined.count({name, alias->second}) != 0) continue;
        const bool views = Views(schema) && inputs.count(alias->second) != 0;
        WHERRY_ENFORCE(views || produced.count(alias->second) != 0, kInvalidArgument, by(), " gives '", name,
                       "' in the memory of '", alias->second, "', which is not the result of an earlier op");
        // And no kernel meets memory shared in a way that it does not expect.
        WHERRY_ENFORCE(MayShare(schema, op, name, alias->second), kInvalidArgument, "value '", name,
                       "' shares the memory of '", alias->second, "', which its operator does not allow");
      }
    }
    for (const auto& [param, names] : op.outputs()) produced.insert(names.begin(), names.end());
    for (int child : op.blocks()) {
      WHERRY_ENFORCE(child > static_cast<int>(index) && child < static_cast<int>(program.blocks.size()),
                     kInvalidArgument, by(), " owns block ", child, ", which is not a later block of the program");
      const Block& branch = program.blocks[static_cast<size_t>(child)];
      const BlockArity arity = ArityOfBlocks(schema, [&op](const char* name) { return CountOf(op, name); });
      WHERRY_ENFORCE(branch.inputs.size() == arity.inputs && branch.outputs.size() == arity.outputs, kInvalidArgument,
                     by(), " needs a block with ", arity.inputs, " inputs and ", arity.outputs, " outputs, its block ",
                     child, " has ", branch.inputs.size(), " and ", branch.outputs.size());
    }
    WHERRY_ENFORCE(!IsLoop(schema) || CountOf(op, "carried") == CountOf(op, "finals"), kInvalidArgument, by(),
                   " carries ", CountOf(op, "carried"), " values and gives ", CountOf(op, "finals"));
  }
  for (const auto& [name, type] : block.values) {
    const bool counts =
        std::none_of(type.dims.begin(), type.dims.end(), [](const Dim& dim) { return dim.known() && dim.value() < 0; });
    WHERRY_ENFORCE(counts, kInvalidArgument, "value '", name, "' has a negative dimension: ", type.DebugString());
  }
  for (const auto& [name, source] : block.aliases) {
    WHERRY_ENFORCE(produced.count(name) != 0, kInvalidArgument, "value '", name, "' shares the memory of '", source,
                   "', and no operator gives it");
  }
  for (const std::string& name : block.outputs) use(name, [] { return "the block's output list"; });
  WHERRY_ENFORCE(block.output_names.empty() || block.output_names.size() == block.outputs.size(), kInvalidArgument,
                 "the block has ", block.outputs.size(), " outputs and ", block.output_names.size(), " names for them");
  WHERRY_ENFORCE(block.picks.empty() || block.picks.size() == block.ops.size(), kInvalidArgument, "the block has ",
                 block.ops.size(), " ops and ", block.picks.size(), " kernel picks");
}

}  // namespace

void VerifyProgram(const Program& program) {
  WHERRY_ENFORCE(!program.blocks.empty(), kInvalidArgument, "the program has no block");
  std::vector<int> owners(program.blocks.size(), 0);
  for (size_t i = 0; i < program.blocks.size(); ++i) {
    try {
      VerifyBlock(program, i);
    } catch (Error& error) {
      error.AddContext(StrCat("checking block ", i));
      throw;
    }
    for (const OpDesc& op : program.blocks[i].ops) {
      for (int child : op.blocks()) ++owners[static_cast<size_t>(child)];
    }
  }
  for (size_t i = 1; i < owners.size(); ++i) {
    WHERRY_ENFORCE(owners[i] == 1, kInvalidArgument, "block ", i, " belongs to ", owners[i], " ops, expected one");
  }
}

void InferProgram(Program* program) {
  auto metadata = program->metadata;
  const bool optimized = program->optimized;
  auto graph = mir::SSAGraph::FromProgram(std::move(*program));
  for (mir::Node* stmt : graph->StmtTopologicalOrder()) mir::InferStmt(graph.get(), stmt);
  *program = mir::SSAGraph::ToProgram(std::move(graph));
  program->optimized = optimized;
}

}  // namespace wherry
