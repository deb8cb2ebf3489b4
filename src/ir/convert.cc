// Program <-> SSAGraph.
#include <set>

#include "base/check.h"
#include "ir/ssa_graph.h"
#include "op/schema_registry.h"

namespace wherry::mir {

class GraphConverter {
 public:
  static std::unique_ptr<SSAGraph> ToGraph(const Program& program, int index,
                                           const std::shared_ptr<GraphShared>& shared) {
    const Block& block = program.blocks[static_cast<size_t>(index)];
    auto graph = std::make_unique<SSAGraph>(shared);
    const auto type_of = [&block](const std::string& name) {
      const auto it = block.values.find(name);
      return it == block.values.end() ? MetaTensor::UnknownRank(DataType::kUndefined) : it->second;
    };
    for (const std::string& name : block.inputs) {
      graph->inputs_.push_back(AddArg(graph.get(), name, type_of(name), false));
      graph->inputs_.back()->is_input_ = true;
    }
    const auto find = [&](const std::string& name) {
      if (Node* arg = graph->FindArg(name)) return arg;
      const auto weight = shared->weights.find(name);
      WHERRY_ENFORCE(weight != shared->weights.end(), kInvalidArgument, "value '", name,
                     "' is neither an input, a weight nor the result of an earlier op");
      MetaTensor type(weight->second.meta());
      AttachValues(weight->second, &type);
      return AddArg(graph.get(), name, std::move(type), true);
    };
    for (size_t i = 0; i < block.ops.size(); ++i) {
      const OpDesc& op = block.ops[i];
      Binding inputs;
      Binding outputs;
      for (const auto& [param, names] : op.inputs()) {
        for (const std::string& name : names) inputs[param].push_back(find(name));
      }
      for (const auto& [param, names] : op.outputs()) {
        for (const std::string& name : names) outputs[param].push_back(AddArg(graph.get(), name, type_of(name), false));
      }
      std::vector<std::unique_ptr<SSAGraph>> blocks;
      for (int child : op.blocks()) {
        WHERRY_ENFORCE(child > index && child < static_cast<int>(program.blocks.size()), kInvalidArgument, op.Type(),
                       ": block ", child, " is not a later block of the program");
        blocks.push_back(ToGraph(program, child, shared));
      }
      Node* stmt = graph->NewStmt(op.Type(), inputs, outputs, op.attrs(), nullptr, std::move(blocks));
      graph->SetLabel(stmt, op.label());
      if (i < block.picks.size() && block.picks[i].picked()) graph->SetPick(stmt, block.picks[i]);
    }
    NodeList results;
    for (const std::string& name : block.outputs) results.push_back(find(name));
    graph->SetOutputs(std::move(results), block.output_names);
    for (const auto& [name, source] : block.aliases) {
      if (graph->FindArg(name) != nullptr && graph->FindArg(source) != nullptr) {
        graph->SetAlias(graph->FindArg(name), graph->FindArg(source));
      }
    }
    return graph;
  }

  // Appends the graph's block, and those of its children, to the program. `taken` are weight names that values must not
  // have.
  static int ToBlock(const SSAGraph& graph, Program* program, std::set<std::string>* used_weights) {
    const auto index = static_cast<int>(program->blocks.size());
    program->blocks.emplace_back();
    Block block;
    const auto name_of = [&](const Node* node) {
      if (node->AsArg().is_weight) used_weights->insert(node->AsArg().name);
      return node->AsArg().name;
    };
    for (const Node* input : graph.inputs_) {
      block.inputs.push_back(name_of(input));
      block.values[name_of(input)] = input->AsArg().type;
    }
    bool any_pick = false;
    for (const Node* stmt : graph.StmtTopologicalOrder()) {
      for (const Node* arg : stmt->inlinks()) name_of(arg);
      for (const Node* arg : stmt->outlinks()) block.values[name_of(arg)] = arg->AsArg().type;
      OpDesc desc = stmt->AsStmt().desc();
      std::vector<int> children;
      for (const auto& child : stmt->AsStmt().blocks()) children.push_back(ToBlock(*child, program, used_weights));
      desc.SetBlocks(std::move(children));
      block.ops.push_back(std::move(desc));
      const KernelPick* pick = graph.Pick(stmt);
      any_pick = any_pick || pick != nullptr;
      block.picks.push_back(pick != nullptr ? *pick : KernelPick{});
    }
    if (!any_pick) block.picks.clear();
    for (const Node* output : graph.outputs_) block.outputs.push_back(name_of(output));
    if (graph.output_names_ != block.outputs) block.output_names = graph.output_names_;
    for (const auto& [arg, source] : graph.aliases_) block.aliases[name_of(arg)] = name_of(source);
    program->blocks[static_cast<size_t>(index)] = std::move(block);
    return index;
  }

  static Program Export(const SSAGraph& graph) {
    Program program;
    program.blocks.clear();
    program.symbols = graph.shared_->symbols;
    program.metadata = graph.shared_->metadata;
    std::set<std::string> used;
    ToBlock(graph, &program, &used);
    for (const std::string& name : used) program.weights[name] = graph.shared_->weights.at(name);
    // A weight made in one graph may have the name of a value in another: the program has one name space for weights.
    for (Block& block : program.blocks) RenameShadowed(&block, program.weights);
    return program;
  }

 private:
  static Node* AddArg(SSAGraph* graph, const std::string& name, MetaTensor type, bool is_weight) {
    WHERRY_ENFORCE(graph->FindArg(name) == nullptr, kInvalidArgument, "value '", name, "' is defined twice");
    Node* node = graph->AddNode(Node::Role::kArg);
    node->arg_.name = name;
    node->arg_.type = std::move(type);
    node->arg_.is_weight = is_weight;
    graph->args_by_name_[name] = node;
    return node;
  }

  static void RenameShadowed(Block* block, const WeightTable& weights) {
    std::set<std::string> defined(block->inputs.begin(), block->inputs.end());
    for (const OpDesc& op : block->ops) {
      for (const auto& [param, names] : op.outputs()) defined.insert(names.begin(), names.end());
    }
    std::map<std::string, std::string> renamed;
    for (const std::string& name : defined) {
      if (weights.count(name) == 0) continue;
      std::string fresh = name;
      for (int i = 1; weights.count(fresh) != 0 || defined.count(fresh) != 0; ++i) fresh = StrCat(name, ".v", i);
      renamed[name] = fresh;
    }
    if (renamed.empty()) return;
    const auto rename = [&renamed](std::string* name) {
      const auto it = renamed.find(*name);
      if (it != renamed.end()) *name = it->second;
    };
    const auto rename_params = [&rename](const std::map<std::string, std::vector<std::string>>& params, auto set) {
      for (const auto& [param, names] : params) {
        std::vector<std::string> changed = names;
        for (std::string& name : changed) rename(&name);
        set(param, changed);
      }
    };
    if (block->output_names.empty()) block->output_names = block->outputs;
    for (std::string& name : block->inputs) rename(&name);
    for (std::string& name : block->outputs) rename(&name);
    for (OpDesc& op : block->ops) {
      const OpDesc before = op;
      rename_params(before.inputs(),
                    [&op](const std::string& p, const std::vector<std::string>& n) { op.SetInput(p, n); });
      rename_params(before.outputs(),
                    [&op](const std::string& p, const std::vector<std::string>& n) { op.SetOutput(p, n); });
    }
    std::map<std::string, MetaTensor> values;
    for (auto& [name, type] : block->values) {
      std::string key = name;
      rename(&key);
      values[key] = std::move(type);
    }
    block->values = std::move(values);
    std::map<std::string, std::string> aliases;
    for (const auto& [name, source] : block->aliases) {
      std::string key = name;
      std::string value = source;
      rename(&key);
      rename(&value);
      aliases[key] = value;
    }
    block->aliases = std::move(aliases);
  }
};

std::unique_ptr<SSAGraph> SSAGraph::FromProgram(Program&& program, std::vector<Place> valid_places) {
  WHERRY_ENFORCE(!program.blocks.empty(), kInvalidArgument, "the program has no block");
  auto shared = std::make_shared<GraphShared>();
  shared->weights = std::move(program.weights);
  shared->symbols = program.symbols;
  shared->metadata = std::move(program.metadata);
  shared->valid_places = std::move(valid_places);
  auto graph = GraphConverter::ToGraph(program, 0, shared);
  program = Program();
  return graph;
}

Program SSAGraph::Snapshot() const { return GraphConverter::Export(*this); }

Program SSAGraph::ToProgram(std::unique_ptr<SSAGraph> graph) { return GraphConverter::Export(*graph); }

}  // namespace wherry::mir
