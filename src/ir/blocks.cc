// Editing statements together with the child graphs that they own.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/check.h"
#include "ir/ssa_graph.h"

namespace wherry::mir {

NodeList SSAGraph::InlineBlock(Node* stmt, size_t index) {
  const std::unique_ptr<SSAGraph> block = std::move(stmt->AsStmt().blocks_.at(index));
  const NodeList captures = stmt->stmt_.input_list("captures");
  WHERRY_CHECK(captures.size() == block->inputs_.size(), "a block with ", block->inputs_.size(),
               " inputs is taken out of ", stmt->stmt_.op_type(), " with ", captures.size(), " captures");
  std::unordered_map<const Node*, Node*> here;
  for (size_t i = 0; i < captures.size(); ++i) here[block->inputs_[i]] = captures[i];
  const auto outside = [&](const Node* inner) {
    Node*& outer = here[inner];
    if (outer != nullptr) return outer;
    const Node::Arg& arg = inner->arg_;
    if (!arg.is_weight) {
      outer = NewArg(arg.name, arg.type);
    } else if (Node* known = FindArg(arg.name); known != nullptr && known->arg_.is_weight) {
      outer = known;
    } else {
      outer = NewWeight(arg.name, block->WeightTensor(inner));
    }
    return outer;
  };
  const auto rebind = [&](const Binding& binding) {
    Binding result;
    for (const auto& [param, nodes] : binding) {
      for (const Node* node : nodes) result[param].push_back(outside(node));
    }
    return result;
  };
  NodeList added;
  for (Node* inner : block->StmtTopologicalOrder()) {
    Node* const fresh = NewStmt(inner->stmt_.op_type(), rebind(inner->stmt_.inputs_), rebind(inner->stmt_.outputs_),
                                inner->stmt_.attrs_, stmt, std::move(inner->stmt_.blocks_));
    fresh->stmt_.label_ = inner->stmt_.label_;
    if (const KernelPick* pick = block->Pick(inner)) SetPick(fresh, *pick);
    added.push_back(fresh);
  }
  const NodeList results = stmt->stmt_.outputs_.begin()->second;
  for (size_t i = 0; i < results.size(); ++i) ReplaceUses(results[i], outside(block->outputs_[i]));
  EraseStmt(stmt);
  return added;
}

Node* SSAGraph::Outline(const NodeList& stmts, const std::string& type, const AttributeMap& attrs) {
  auto block = std::make_unique<SSAGraph>(shared_);
  const std::unordered_set<const Node*> members(stmts.begin(), stmts.end());
  std::unordered_map<const Node*, Node*> within;
  NodeList captures;
  NodeList results;
  NodeList inner_results;
  const auto inside = [&](Node* outer) {
    Node*& inner = within[outer];
    if (inner != nullptr) return inner;
    if (outer->arg_.is_weight) {
      inner = block->AddNode(Node::Role::kArg);
      inner->arg_ = outer->arg_;
      block->args_by_name_[inner->arg_.name] = inner;
    } else if (outer->producer() != nullptr && members.count(outer->producer()) != 0) {
      inner = block->NewArg(outer->arg_.name, outer->arg_.type);
    } else {
      inner = block->NewInput(outer->arg_.name, outer->arg_.type);
      captures.push_back(outer);
    }
    return inner;
  };
  const auto rebind = [&](const Binding& binding) {
    Binding result;
    for (const auto& [param, nodes] : binding) {
      for (Node* node : nodes) result[param].push_back(inside(node));
    }
    return result;
  };
  for (Node* stmt : stmts) {
    Node* const inner = block->NewStmt(stmt->stmt_.op_type(), rebind(stmt->stmt_.inputs_), rebind(stmt->stmt_.outputs_),
                                       stmt->stmt_.attrs_, nullptr, std::move(stmt->stmt_.blocks_));
    inner->stmt_.label_ = stmt->stmt_.label_;
    if (const KernelPick* pick = Pick(stmt)) block->SetPick(inner, *pick);
    for (Node* result : stmt->outlinks_) {
      const bool used = result->is_output_ || std::any_of(result->outlinks_.begin(), result->outlinks_.end(),
                                                          [&](const Node* user) { return members.count(user) == 0; });
      if (!used) continue;
      results.push_back(result);
      inner_results.push_back(within.at(result));
    }
  }
  block->SetOutputs(std::move(inner_results));
  const int64_t order = stmts.at(0)->order_;
  for (auto it = stmts.rbegin(); it != stmts.rend(); ++it) EraseStmt(*it);
  std::vector<std::unique_ptr<SSAGraph>> blocks;
  blocks.push_back(std::move(block));
  Node* const outlined = NewStmt(type, {{"captures", captures}}, {{"out", results}}, attrs, nullptr, std::move(blocks));
  outlined->order_ = order;
  order_.clear();
  return outlined;
}

bool SSAGraph::EraseUnusedCapture(Node* stmt, size_t index) {
  NodeList captures = stmt->AsStmt().input_list("captures");
  const auto inner = [&](const SSAGraph& block) {
    return block.inputs_[block.inputs_.size() - captures.size() + index];
  };
  for (const auto& block : stmt->stmt_.blocks_) {
    if (!inner(*block)->outlinks_.empty() || inner(*block)->is_output_) return false;
  }
  for (const auto& block : stmt->stmt_.blocks_) {
    Node* const input = inner(*block);
    std::erase(block->inputs_, input);
    input->is_input_ = false;
    block->EraseArg(input);
  }
  captures.erase(captures.begin() + static_cast<int64_t>(index));
  SetInput(stmt, "captures", std::move(captures));
  return true;
}

}  // namespace wherry::mir
