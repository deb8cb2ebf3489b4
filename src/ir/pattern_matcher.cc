#include "ir/pattern_matcher.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/check.h"
#include "op/schema_registry.h"

namespace wherry::mir {

namespace {

std::string Canonical(const std::string& type) {
  const OpSchema* schema = SchemaRegistry::Global().Find(type);
  return schema == nullptr ? type : schema->name;
}

bool BoundTo(const Binding& binding, const std::string& param, const Node* arg) {
  const auto it = binding.find(param);
  return it != binding.end() && std::find(it->second.begin(), it->second.end(), arg) != it->second.end();
}

bool IsType(const Node* stmt, const std::string& type) { return stmt->AsStmt().schema().name == type; }

}  // namespace

PMNode* PMNode::AsInput() {
  role_ = Role::kInput;
  return this;
}
PMNode* PMNode::AsOutput() {
  role_ = Role::kOutput;
  return this;
}
PMNode* PMNode::AsIntermediate() {
  role_ = Role::kIntermediate;
  return this;
}
PMNode* PMNode::AsVar() { return assert_is_var(); }
PMNode* PMNode::AsOp(const std::string& type) { return assert_is_op(type); }
PMNode* PMNode::assert_is_op() {
  WHERRY_CHECK(is_op_, "pattern node ", key_, " is a variable");
  return this;
}
PMNode* PMNode::assert_is_op(const std::string& type) { return assert_is_op_any({type}); }
PMNode* PMNode::assert_is_op_any(const std::vector<std::string>& types) {
  assert_is_op();
  for (const std::string& type : types) types_.push_back(Canonical(type));
  return this;
}
PMNode* PMNode::assert_is_var() {
  WHERRY_CHECK(!is_op_, "pattern node ", key_, " is an op");
  return this;
}
PMNode* PMNode::assert_is_persistable_var() {
  return assert_is_var()->assert_node_satisfied([](const Node* node) { return node->AsArg().is_weight; });
}
PMNode* PMNode::assert_var_not_persistable() {
  return assert_is_var()->assert_node_satisfied([](const Node* node) { return !node->AsArg().is_weight; });
}
PMNode* PMNode::assert_only_one_output() {
  return assert_node_satisfied([](const Node* node) { return node->outlinks().size() == 1; });
}
PMNode* PMNode::assert_is_op_input(const std::string& type, const std::string& param) {
  return assert_is_var()->assert_node_satisfied([type = Canonical(type), param](const Node* node) {
    return std::any_of(node->outlinks().begin(), node->outlinks().end(), [&](const Node* stmt) {
      return IsType(stmt, type) && BoundTo(stmt->AsStmt().inputs(), param, node);
    });
  });
}
PMNode* PMNode::assert_is_op_output(const std::string& type, const std::string& param) {
  return assert_is_var()->assert_node_satisfied([type = Canonical(type), param](const Node* node) {
    const Node* stmt = node->producer();
    return stmt != nullptr && IsType(stmt, type) && BoundTo(stmt->AsStmt().outputs(), param, node);
  });
}
PMNode* PMNode::assert_node_satisfied(std::function<bool(const Node*)> predicate) {
  predicates_.push_back(std::move(predicate));
  return this;
}
PMNode* PMNode::LinksFrom(const std::vector<PMNode*>& others) {
  for (PMNode* other : others) pattern_->AddEdge(other, this);
  return this;
}
PMNode* PMNode::LinksTo(const std::vector<PMNode*>& others) {
  for (PMNode* other : others) pattern_->AddEdge(this, other);
  return this;
}
PMNode* PMNode::AsParam(PMNode* op, const std::string& param) {
  for (PMPattern::Edge& edge : pattern_->edges()) {
    if ((edge.from == this && edge.to == op) || (edge.from == op && edge.to == this)) {
      edge.param = param;
      return this;
    }
  }
  WHERRY_CHECK(false, "pattern nodes ", key_, " and ", op->key_, " are not linked (link first, then AsParam)");
}

bool PMNode::Matches(const Node* node) const {
  if (node->IsStmt() != is_op_) return false;
  if (!types_.empty() && std::find(types_.begin(), types_.end(), node->AsStmt().schema().name) == types_.end())
    return false;
  return std::all_of(predicates_.begin(), predicates_.end(), [node](const auto& predicate) { return predicate(node); });
}

PMNode* PMPattern::NewNode(const std::string& key, bool is_op) {
  WHERRY_CHECK(Find(key) == nullptr, "pattern key ", key, " is used twice");
  nodes_.push_back(std::unique_ptr<PMNode>(new PMNode(this, key, is_op)));
  return nodes_.back().get();
}

PMNode* PMPattern::Find(const std::string& key) const {
  for (const auto& node : nodes_) {
    if (node->key() == key) return node.get();
  }
  return nullptr;
}

PMNode& operator>>(PMNode& from, PMNode& to) {
  from.LinksTo({&to});
  return to;
}
PMNode& operator>>(const std::vector<PMNode*>& from, PMNode& to) {
  to.LinksFrom(from);
  return to;
}
const std::vector<PMNode*>& operator>>(PMNode& from, const std::vector<PMNode*>& to) {
  from.LinksTo(to);
  return to;
}

// One search from an anchor statement: assigns graph nodes to pattern nodes along the edges, trying alternatives in id
// order.
class PatternMatcher {
 public:
  PatternMatcher(const SSAGraph& graph, const PMPattern& pattern) : graph_(graph), pattern_(pattern) { PlanOrder(); }

  std::vector<key2nodes_t> Run() {
    std::vector<key2nodes_t> matches;
    if (rarest_ == 0) return matches;
    std::set<const Node*> claimed;  // ops and Intermediates of accepted matches
    for (Node* stmt : graph_.StmtTopologicalOrder()) {
      if (!anchor_->Matches(stmt) || claimed.count(stmt) != 0) continue;
      assigned_.clear();
      assigned_[anchor_] = stmt;
      claimed_ = &claimed;
      if (!Extend(0)) continue;
      key2nodes_t match;
      for (const auto& [pm, node] : assigned_) {
        match[pm->key()] = node;
        if (pm->is_op() || pm->is_intermediate()) claimed.insert(node);
      }
      matches.push_back(std::move(match));
    }
    return matches;
  }

 private:
  void PlanOrder() {
    for (const auto& node : pattern_.nodes()) {
      if (!node->is_op()) continue;
      size_t count = node->types_.empty() ? graph_.stmt_count() : 0;
      for (const std::string& type : node->types_) count += graph_.stmt_count(type);
      if (anchor_ == nullptr || count < rarest_) {
        anchor_ = node.get();
        rarest_ = count;
      }
    }
    WHERRY_CHECK(anchor_ != nullptr, "a pattern needs an op");
    std::set<const PMNode*> reached{anchor_};
    std::vector<PMPattern::Edge> open = pattern_.edges();
    while (!open.empty()) {
      const auto next = std::find_if(open.begin(), open.end(), [&](const PMPattern::Edge& edge) {
        return reached.count(edge.from) != 0 || reached.count(edge.to) != 0;
      });
      WHERRY_CHECK(next != open.end(), "pattern node ", open[0].from->key(), " is not connected to ", anchor_->key());
      reached.insert(next->from);
      reached.insert(next->to);
      edges_.push_back(*next);
      open.erase(next);
    }
    WHERRY_CHECK(reached.size() == pattern_.nodes().size(), "the pattern is not connected");
  }

  static bool Linked(const PMPattern::Edge& edge, const Node* from, const Node* to) {
    const bool from_op = from->IsStmt();
    const Node* stmt = from_op ? from : to;
    const Node* arg = from_op ? to : from;
    if (!edge.param.empty())
      return BoundTo(from_op ? stmt->AsStmt().outputs() : stmt->AsStmt().inputs(), edge.param, arg);
    const NodeList& links = from->outlinks();
    return std::find(links.begin(), links.end(), to) != links.end();
  }

  bool Extend(size_t index) {
    if (index == edges_.size()) return ClosedIntermediates();
    const PMPattern::Edge& edge = edges_[index];
    const auto from = assigned_.find(edge.from);
    const auto to = assigned_.find(edge.to);
    if (from != assigned_.end() && to != assigned_.end()) {
      return Linked(edge, from->second, to->second) && Extend(index + 1);
    }
    const bool forward = from != assigned_.end();
    const PMNode* fresh = forward ? edge.to : edge.from;
    Node* known = forward ? from->second : to->second;
    const NodeList candidates = forward ? known->outlinks() : known->inlinks();
    for (Node* candidate : candidates) {
      if (!fresh->Matches(candidate) || Taken(fresh, candidate)) continue;
      if (!(forward ? Linked(edge, known, candidate) : Linked(edge, candidate, known))) continue;
      assigned_[fresh] = candidate;
      if (Extend(index + 1)) return true;
      assigned_.erase(fresh);
    }
    return false;
  }

  bool Taken(const PMNode* fresh, const Node* candidate) const {
    if ((fresh->is_op() || fresh->is_intermediate()) && claimed_->count(candidate) != 0) return true;
    // Two pattern ops are two statements; variables may coincide (x * x).
    return fresh->is_op() && std::any_of(assigned_.begin(), assigned_.end(),
                                         [candidate](const auto& entry) { return entry.second == candidate; });
  }

  bool ClosedIntermediates() const {
    std::set<const Node*> members;
    for (const auto& [pm, node] : assigned_) members.insert(node);
    for (const auto& [pm, node] : assigned_) {
      if (!pm->is_intermediate()) continue;
      if (graph_.IsOutput(node)) return false;
      for (const Node* link : node->outlinks()) {
        if (members.count(link) == 0) return false;
      }
    }
    return true;
  }

  const SSAGraph& graph_;
  const PMPattern& pattern_;
  const PMNode* anchor_ = nullptr;
  size_t rarest_ = 0;                   // statements that the anchor may be
  std::vector<PMPattern::Edge> edges_;  // each touches what is assigned before it
  std::map<const PMNode*, Node*> assigned_;
  const std::set<const Node*>* claimed_ = nullptr;
};

std::vector<key2nodes_t> FindMatches(const SSAGraph& graph, const PMPattern& pattern) {
  return PatternMatcher(graph, pattern).Run();
}

}  // namespace wherry::mir
