// Editing statements together with the child graphs that they own.
#include <algorithm>
#include <unordered_map>

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
