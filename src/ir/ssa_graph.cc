#include "ir/ssa_graph.h"

#include <algorithm>
#include <queue>
#include <set>

#include "base/check.h"
#include "op/control_flow.h"
#include "op/memory_piece.h"
#include "op/schema_registry.h"

namespace wherry::mir {

namespace {

bool ById(const Node* a, const Node* b) { return a->id() < b->id(); }

void InsertById(NodeList* list, Node* node) {
  const auto it = std::lower_bound(list->begin(), list->end(), node, ById);
  if (it == list->end() || *it != node) list->insert(it, node);
}

void RemoveById(NodeList* list, const Node* node) {
  const auto it = std::lower_bound(list->begin(), list->end(), node, ById);
  if (it != list->end() && *it == node) list->erase(it);
}

bool ContainsById(const NodeList& list, const Node* node) {
  return std::binary_search(list.begin(), list.end(), node, ById);
}

bool Uses(const Binding& binding, const Node* node) {
  return std::any_of(binding.begin(), binding.end(), [node](const auto& entry) {
    return std::count(entry.second.begin(), entry.second.end(), node) != 0;
  });
}

}  // namespace

bool SSAGraph::IsInput(const Node* arg) const { return arg->is_input_; }
bool SSAGraph::IsOutput(const Node* arg) const { return arg->is_output_; }

NodeList SSAGraph::StmtTopologicalOrder() const {
  if (!order_.empty()) return order_;
  const auto later = [](const Node* a, const Node* b) {
    return a->order_ != b->order_ ? a->order_ > b->order_ : a->id_ > b->id_;
  };
  std::priority_queue<Node*, NodeList, decltype(later)> ready(later);
  std::vector<size_t> waiting(nodes_.size(), 0);  // by id: arguments not made yet
  for (const auto& node : nodes_) {
    if (node == nullptr || !node->IsStmt()) continue;
    size_t open = 0;
    for (const Node* arg : node->inlinks_) open += arg->producer() != nullptr ? 1 : 0;
    if (open == 0) {
      ready.push(node.get());
    } else {
      waiting[static_cast<size_t>(node->id_)] = open;
    }
  }
  NodeList order;
  order.reserve(stmt_count_);
  while (!ready.empty()) {
    Node* stmt = ready.top();
    ready.pop();
    order.push_back(stmt);
    for (const Node* result : stmt->outlinks_) {
      for (Node* user : result->outlinks_) {
        if (--waiting[static_cast<size_t>(user->id_)] == 0) ready.push(user);
      }
    }
  }
  WHERRY_CHECK(order.size() == stmt_count_, "the graph has a cycle through ", stmt_count_ - order.size(),
               " statements");
  order_ = order;
  return order;
}

NodeList SSAGraph::nodes() const {
  NodeList result;
  result.reserve(nodes_.size());
  for (const auto& node : nodes_) {
    if (node != nullptr) result.push_back(node.get());
  }
  return result;
}

size_t SSAGraph::stmt_count(const std::string& type) const {
  const OpSchema* schema = SchemaRegistry::Global().Find(type);
  const auto it = counts_.find(schema);
  return it == counts_.end() ? 0 : it->second;
}

Node* SSAGraph::FindArg(const std::string& name) const {
  const auto it = args_by_name_.find(name);
  return it == args_by_name_.end() ? nullptr : it->second;
}

const DenseTensor* SSAGraph::TryWeight(const Node* arg) const {
  if (!arg->IsArg() || !arg->AsArg().is_weight) return nullptr;
  const auto it = shared_->weights.find(arg->AsArg().name);
  return it == shared_->weights.end() ? nullptr : &it->second;
}

const DenseTensor& SSAGraph::WeightTensor(const Node* arg) const {
  const DenseTensor* tensor = TryWeight(arg);
  WHERRY_CHECK(tensor != nullptr, "argument ", arg->AsArg().name, " is no weight");
  return *tensor;
}

NodeList SSAGraph::StmtsWithBlocks() const {
  NodeList result;
  const bool any = std::any_of(counts_.begin(), counts_.end(), [](const auto& entry) {
    return entry.second != 0 && entry.first->Has(kTraitControlFlow);
  });
  if (!any) return result;
  for (const auto& node : nodes_) {
    if (node != nullptr && node->IsStmt() && !node->stmt_.blocks_.empty()) result.push_back(node.get());
  }
  return result;
}

void SSAGraph::ForEachGraph(const std::function<void(SSAGraph&)>& fn) {
  for (Node* node : StmtsWithBlocks()) {
    for (const auto& block : node->stmt_.blocks_) block->ForEachGraph(fn);
  }
  fn(*this);
}

std::string SSAGraph::UniqueName(const std::string& stem) const {
  const auto taken = [this](const std::string& name) {
    return args_by_name_.count(name) != 0 || shared_->weights.count(name) != 0;
  };
  const std::string base = stem.empty() ? "v" : stem;
  if (!taken(base)) return base;
  // Suffixes are not tried twice, or a thousand values of one stem would take a million look-ups.
  for (int& i = suffixes_[base];;) {
    std::string name = base + "." + std::to_string(++i);
    if (!taken(name)) return name;
  }
}

Node* SSAGraph::AddNode(Node::Role role) {
  nodes_.push_back(std::unique_ptr<Node>(new Node(role, static_cast<int>(nodes_.size()))));
  return nodes_.back().get();
}

Node* SSAGraph::NewArg(const std::string& name, MetaTensor type) {
  Node* node = AddNode(Node::Role::kArg);
  node->arg_.name = UniqueName(name);
  node->arg_.type = std::move(type);
  args_by_name_[node->arg_.name] = node;
  return node;
}

Node* SSAGraph::NewWeight(const std::string& name, DenseTensor tensor) {
  MetaTensor type(tensor.meta());
  AttachValues(tensor, &type);
  Node* node = NewArg(name, std::move(type));
  node->arg_.is_weight = true;
  shared_->weights[node->arg_.name] = std::move(tensor);
  return node;
}

Node* SSAGraph::NewInput(const std::string& name, MetaTensor type) {
  Node* node = NewArg(name, std::move(type));
  node->is_input_ = true;
  inputs_.push_back(node);
  return node;
}

void SSAGraph::SetOutputs(NodeList outputs, std::vector<std::string> names) {
  if (names.empty()) {
    for (const Node* node : outputs) names.push_back(node->AsArg().name);
  }
  WHERRY_CHECK(names.size() == outputs.size(), "outputs and their names differ in number");
  if (outputs == outputs_ && names == output_names_) return;
  ++shared_->edits;
  for (Node* node : outputs_) node->is_output_ = false;
  outputs_ = std::move(outputs);
  for (Node* node : outputs_) node->is_output_ = true;
  output_names_ = std::move(names);
}

void SSAGraph::Link(Node* stmt) {
  ++shared_->edits;
  order_.clear();
  for (const auto& [param, args] : stmt->stmt_.inputs_) {
    for (Node* arg : args) {
      InsertById(&stmt->inlinks_, arg);
      InsertById(&arg->outlinks_, stmt);
    }
  }
  for (const auto& [param, args] : stmt->stmt_.outputs_) {
    for (Node* arg : args) {
      InsertById(&stmt->outlinks_, arg);
      InsertById(&arg->inlinks_, stmt);
    }
  }
}

void SSAGraph::Unlink(Node* stmt) {
  order_.clear();
  for (Node* arg : stmt->inlinks_) RemoveById(&arg->outlinks_, stmt);
  for (Node* arg : stmt->outlinks_) RemoveById(&arg->inlinks_, stmt);
  stmt->inlinks_.clear();
  stmt->outlinks_.clear();
}

Node* SSAGraph::NewStmt(const std::string& type, const Binding& inputs, const Binding& outputs,
                        const AttributeMap& attrs, const Node* near, std::vector<std::unique_ptr<SSAGraph>> blocks) {
  const OpSchema& schema = SchemaRegistry::Global().Get(type);
  const auto names = [](const NodeList& nodes) {
    std::vector<std::string> result;
    for (const Node* node : nodes) result.push_back(node->AsArg().name);
    return result;
  };
  OpDesc desc(schema.name);
  for (const auto& [param, nodes] : inputs) desc.SetInput(param, names(nodes));
  for (const auto& [param, nodes] : outputs) desc.SetOutput(param, names(nodes));
  for (const auto& [name, value] : attrs) desc.SetAttribute(name, value);
  desc.SetBlocks(std::vector<int>(blocks.size(), -1));  // the schema counts them; which they are is in `blocks`
  ValidateOpDesc(schema, &desc);
  for (const auto& [param, nodes] : outputs) {
    for (const Node* node : nodes) {
      WHERRY_CHECK(node->producer() == nullptr && !node->AsArg().is_weight && !IsInput(node), "argument ",
                   node->AsArg().name, " already has a producer and cannot be an output of ", type);
    }
  }
  Node* stmt = AddNode(Node::Role::kStmt);
  stmt->order_ = near != nullptr ? near->order_ : next_order_++;
  stmt->stmt_.schema_ = &schema;
  ++stmt_count_;
  ++counts_[&schema];
  stmt->stmt_.attrs_ = desc.attrs();
  for (const auto& [param, nodes] : inputs) {
    if (!nodes.empty()) stmt->stmt_.inputs_[param] = nodes;
  }
  for (const auto& [param, nodes] : outputs) {
    if (!nodes.empty()) stmt->stmt_.outputs_[param] = nodes;
  }
  for (const auto& block : blocks) block->is_child_ = true;
  stmt->stmt_.blocks_ = std::move(blocks);
  Link(stmt);
  return stmt;
}

Node* SSAGraph::NewStmt(const OpDesc& desc, const Node* near) {
  Binding inputs;
  Binding outputs;
  for (const auto& [param, names] : desc.inputs()) {
    for (const std::string& name : names) {
      Node* arg = FindArg(name);
      WHERRY_CHECK(arg != nullptr, desc.Type(), ": argument ", param, " is ", name, ", which the graph does not have");
      inputs[param].push_back(arg);
    }
  }
  for (const auto& [param, names] : desc.outputs()) {
    for (const std::string& name : names) {
      Node* arg = FindArg(name);
      if (arg == nullptr) arg = NewArg(name);
      if (Node* previous = arg->producer()) {  // the old producer loses this result
        for (auto& [old_param, nodes] : previous->stmt_.outputs_) std::erase(nodes, arg);
        RemoveById(&previous->outlinks_, arg);
        arg->inlinks_.clear();
      }
      outputs[param].push_back(arg);
    }
  }
  Node* stmt = NewStmt(desc.Type(), inputs, outputs, desc.attrs(), near);
  stmt->stmt_.label_ = desc.label();
  return stmt;
}

void SSAGraph::SetLabel(Node* stmt, std::string label) {
  ++shared_->edits;
  stmt->stmt_.label_ = std::move(label);
}

void SSAGraph::SetAttr(Node* stmt, const std::string& name, const Attribute& value) {
  const OpSchema& schema = stmt->AsStmt().schema();
  const int index = schema.FindArg(name);
  WHERRY_CHECK(index >= 0 && !schema.args[static_cast<size_t>(index)].is_tensor(), schema.name, " has no attribute ",
               name);
  Attribute converted =
      ConvertAttribute(value, schema.args[static_cast<size_t>(index)].type, StrCat(schema.name, ": attribute ", name));
  const auto now = stmt->stmt_.attrs_.find(name);
  if (now != stmt->stmt_.attrs_.end() && SameAttribute(now->second, converted)) return;
  ++shared_->edits;
  stmt->stmt_.attrs_[name] = std::move(converted);
  stmt->stmt_.attrs_hash_.reset();
}

void SSAGraph::SetInput(Node* stmt, const std::string& param, NodeList args) {
  const int index = stmt->AsStmt().schema().FindArg(param);
  WHERRY_CHECK(index >= 0, stmt->AsStmt().schema().name, " has no argument ", param);
  if (args == stmt->stmt_.input_list(param)) return;
  Unlink(stmt);
  if (args.empty()) {
    stmt->stmt_.inputs_.erase(param);
  } else {
    stmt->stmt_.attrs_.erase(param);  // an IntArray or Scalar that comes from a tensor now
    stmt->stmt_.attrs_hash_.reset();
    stmt->stmt_.inputs_[param] = std::move(args);
  }
  Link(stmt);
}

void SSAGraph::SetOutput(Node* stmt, const std::string& param, NodeList args) {
  WHERRY_CHECK(stmt->AsStmt().schema().FindOutput(param) >= 0, stmt->AsStmt().schema().name, " has no output ", param);
  Unlink(stmt);
  for (const Node* arg : args) {
    WHERRY_CHECK(arg->producer() == nullptr && !arg->AsArg().is_weight && !IsInput(arg), "argument ", arg->AsArg().name,
                 " already has a producer");
  }
  stmt->stmt_.outputs_[param] = std::move(args);
  Link(stmt);
}

void SSAGraph::Reorder(const NodeList& order) {
  ++shared_->edits;
  order_.clear();
  for (Node* stmt : order) stmt->order_ = next_order_++;
}

void SSAGraph::ReplaceUses(Node* from, Node* to) {
  if (from == to) return;
  const NodeList users = from->outlinks_;
  for (Node* stmt : users) ReplaceInput(stmt, from, to);
  if (!from->is_output_) return;
  ++shared_->edits;
  std::replace(outputs_.begin(), outputs_.end(), from, to);
  from->is_output_ = false;
  to->is_output_ = true;
}

void SSAGraph::ReplaceInput(Node* stmt, Node* from, Node* to) {
  Unlink(stmt);
  for (auto& [param, nodes] : stmt->AsStmt().inputs_) std::replace(nodes.begin(), nodes.end(), from, to);
  Link(stmt);
}

void SSAGraph::EraseStmt(Node* stmt) {
  const NodeList results = stmt->outlinks_;
  const NodeList arguments = stmt->inlinks_;
  Unlink(stmt);
  ++shared_->edits;
  picks_.erase(stmt);
  for (Node* arg : results) {
    if (arg->outlinks_.empty() && !IsOutput(arg)) EraseArg(arg);
  }
  for (Node* arg : arguments) {  // weights that nothing uses any more, and results whose producer went before
    if (arg->inlinks_.empty() && arg->outlinks_.empty() && !IsOutput(arg) && !IsInput(arg)) EraseArg(arg);
  }
  --stmt_count_;
  --counts_[stmt->stmt_.schema_];
  nodes_[static_cast<size_t>(stmt->id_)].reset();
}

void SSAGraph::DropWeight(const std::string& name) {
  WHERRY_CHECK(FindArg(name) == nullptr, "weight ", name, " is dropped while it is in use");
  shared_->weights.erase(name);
}

void SSAGraph::EraseArg(Node* arg) {
  WHERRY_CHECK(arg->inlinks_.empty() && arg->outlinks_.empty() && !IsOutput(arg) && !IsInput(arg), "argument ",
               arg->AsArg().name, " is erased while it is in use");
  args_by_name_.erase(arg->arg_.name);
  aliases_.erase(arg);
  for (auto it = aliases_.begin(); it != aliases_.end();) it = it->second == arg ? aliases_.erase(it) : std::next(it);
  nodes_[static_cast<size_t>(arg->id_)].reset();
}

void SSAGraph::SetPick(const Node* stmt, KernelPick pick) {
  ++shared_->edits;
  picks_[stmt] = std::move(pick);
}

void SSAGraph::SetAlias(const Node* arg, Node* source) {
  ++shared_->edits;
  aliases_[arg] = source;
}

void SSAGraph::ClearAliases() {
  shared_->edits += aliases_.size();
  aliases_.clear();
}

const KernelPick* SSAGraph::Pick(const Node* stmt) const {
  const auto it = picks_.find(stmt);
  return it == picks_.end() ? nullptr : &it->second;
}

Node* SSAGraph::Alias(const Node* arg) const {
  const auto it = aliases_.find(arg);
  return it == aliases_.end() ? nullptr : it->second;
}

void SSAGraph::Verify() const {
  for (const auto& node : nodes_) {
    if (node == nullptr) continue;
    if (node->IsArg()) {
      const Node::Arg& arg = node->arg_;
      WHERRY_CHECK(node->inlinks_.size() <= 1, "invariant 2: argument ", arg.name, " has ", node->inlinks_.size(),
                   " producers");
      const bool source = arg.is_weight || IsInput(node.get());
      WHERRY_CHECK(!(source && node->producer() != nullptr), "invariant 2: weight or input ", arg.name,
                   " has a producer");
      WHERRY_CHECK(source || node->producer() != nullptr, "invariant 3: argument ", arg.name, " has no producer");
      const auto named = args_by_name_.find(arg.name);
      WHERRY_CHECK(named != args_by_name_.end() && named->second == node.get(), "invariant 6: name ", arg.name,
                   " is not unique");
      if (arg.is_weight) {
        const DenseTensor* tensor = TryWeight(node.get());
        WHERRY_CHECK(tensor != nullptr, "invariant 6: weight ", arg.name, " is not in the weight table");
        WHERRY_CHECK(arg.type.known() && arg.type.shape() == tensor->shape() && arg.type.dtype == tensor->dtype(),
                     "invariant 6: weight ", arg.name, " is ", tensor->meta().DebugString(), " but typed ",
                     arg.type.DebugString());
      }
      for (const Node* user : node->outlinks_) {
        WHERRY_CHECK(user->IsStmt() && Uses(user->stmt_.inputs_, node.get()), "invariant 4: argument ", arg.name,
                     " links to a statement that does not use it");
      }
      continue;
    }
    const Node::Stmt& stmt = node->stmt_;
    WHERRY_CHECK(stmt.schema_ != nullptr, "invariant 1: statement ", node->id_, " has no schema");
    try {
      OpDesc desc = stmt.desc();
      desc.SetBlocks(std::vector<int>(stmt.blocks_.size(), -1));
      ValidateOpDesc(*stmt.schema_, &desc);
    } catch (const Error& error) {
      Throw(ErrorCode::kInternal, "bug in Wherry: invariants 1, 8: ", error.message());
    }
    for (const auto& [param, args] : stmt.inputs_) {
      for (const Node* arg : args) {
        WHERRY_CHECK(ContainsById(node->inlinks_, arg) && ContainsById(arg->outlinks_, node.get()),
                     "invariant 4: ", stmt.schema_->name, " and its argument ", arg->arg_.name, " are not linked");
      }
    }
    for (const auto& [param, args] : stmt.outputs_) {
      for (const Node* arg : args) {
        WHERRY_CHECK(ContainsById(node->outlinks_, arg) && arg->producer() == node.get(),
                     "invariant 4: ", stmt.schema_->name, " and its result ", arg->arg_.name, " are not linked");
      }
    }
    for (const auto& block : stmt.blocks_) {
      const BlockArity arity = ArityOfBlocks(*stmt.schema_, [&stmt](const char* param) {
        return stmt.input_list(param).size() + stmt.output_list(param).size();
      });
      WHERRY_CHECK(block->inputs_.size() == arity.inputs && block->outputs_.size() == arity.outputs,
                   "invariant 9: a block of ", stmt.schema_->name, " has ", block->inputs_.size(), " inputs and ",
                   block->outputs_.size(), " outputs, expected ", arity.inputs, " and ", arity.outputs);
      block->Verify();
    }
  }
  for (const Node* output : outputs_) {
    WHERRY_CHECK(FindArg(output->arg_.name) == output, "invariant 7: an output is not an argument of the graph");
  }
  StmtTopologicalOrder();  // invariant 5
  std::set<const Node*> living;
  for (const auto& node : nodes_) living.insert(node.get());
  for (const auto& [stmt, pick] : picks_)
    WHERRY_CHECK(living.count(stmt) != 0, "invariant 10: a pick of an erased statement");
  for (const auto& [arg, source] : aliases_) {
    WHERRY_CHECK(living.count(arg) != 0 && living.count(source) != 0, "invariant 10: an alias of an erased argument");
    const bool views = arg->producer() != nullptr && Views(arg->producer()->AsStmt().schema());
    WHERRY_CHECK(!source->arg_.is_weight && (views || !IsInput(source)), "invariant 10: ", arg->arg_.name,
                 " overwrites ", source->arg_.name, ", a weight or an input");
  }
}

}  // namespace wherry::mir
