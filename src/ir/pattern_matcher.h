// Patterns over an SSAGraph: what to look for (PMPattern of PMNodes with assertions and links) and where it stands
// (PatternMatcher).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/ssa_graph.h"

namespace wherry::mir {

class PMPattern;

// One node of a pattern. All methods return this, so that they chain. An Intermediate value is used only inside the
// pattern and is no graph output; a match where it is used elsewhere is dropped. Op types and parameters may be given
// by alias.
class PMNode {
 public:
  const std::string& key() const { return key_; }

  PMNode* AsInput();
  PMNode* AsOutput();
  PMNode* AsIntermediate();
  PMNode* AsVar();
  PMNode* AsOp(const std::string& type);

  PMNode* assert_is_op();
  PMNode* assert_is_op(const std::string& type);
  PMNode* assert_is_op_any(const std::vector<std::string>& types);
  PMNode* assert_is_var();
  PMNode* assert_is_persistable_var();  // a weight
  PMNode* assert_var_not_persistable();
  PMNode* assert_only_one_output();  // used by one statement
  PMNode* assert_is_op_input(const std::string& type, const std::string& param);
  PMNode* assert_is_op_output(const std::string& type, const std::string& param);
  template <typename T>
  PMNode* assert_op_attr(const std::string& name, const T& value) {
    return assert_op_attr_satisfied<T>(name, [value](const T& got) { return got == value; });
  }
  template <typename T>
  PMNode* assert_op_attr_satisfied(const std::string& name, std::function<bool(const T&)> predicate) {
    return assert_node_satisfied([name, predicate](const Node* node) {
      return node->IsStmt() && node->AsStmt().HasAttr(name) && predicate(node->AsStmt().GetAttr<T>(name));
    });
  }
  PMNode* assert_node_satisfied(std::function<bool(const Node*)> predicate);

  PMNode* LinksFrom(const std::vector<PMNode*>& others);
  PMNode* LinksTo(const std::vector<PMNode*>& others);
  // For a variable: it must be bound to this parameter of the op it links to / from in the pattern.
  PMNode* AsParam(PMNode* op, const std::string& param);

  bool Matches(const Node* node) const;
  bool is_op() const { return is_op_; }
  bool is_intermediate() const { return role_ == Role::kIntermediate; }

 private:
  friend class PMPattern;
  friend class PatternMatcher;
  enum class Role : uint8_t { kUnknown, kInput, kOutput, kIntermediate };
  PMNode(PMPattern* pattern, std::string key, bool is_op) : pattern_(pattern), key_(std::move(key)), is_op_(is_op) {}

  PMPattern* pattern_;
  std::string key_;
  bool is_op_;
  Role role_ = Role::kUnknown;
  std::vector<std::string> types_;  // op types, aliases resolved; empty: any
  std::vector<std::function<bool(const Node*)>> predicates_;
};

class PMPattern {
 public:
  PMNode* NewNode(const std::string& key, bool is_op);  // Error(kInternal) when the key is taken
  PMNode* Find(const std::string& key) const;
  void AddEdge(PMNode* from, PMNode* to) { edges_.push_back({from, to, ""}); }

  struct Edge {
    PMNode* from;
    PMNode* to;
    std::string param;  // of the op at one end; empty: any
  };
  const std::vector<std::unique_ptr<PMNode>>& nodes() const { return nodes_; }
  const std::vector<Edge>& edges() const { return edges_; }
  std::vector<Edge>& edges() { return edges_; }

 private:
  std::vector<std::unique_ptr<PMNode>> nodes_;
  std::vector<Edge> edges_;
};

// a >> b links a to b; with a list, to or from each.
PMNode& operator>>(PMNode& from, PMNode& to);
PMNode& operator>>(const std::vector<PMNode*>& from, PMNode& to);
const std::vector<PMNode*>& operator>>(PMNode& from, const std::vector<PMNode*>& to);

using key2nodes_t = std::map<std::string, Node*>;

// Finds matches in the order of the graph's statements; a match that overlaps an earlier one in an op or an
// Intermediate is dropped. Anchored at the pattern's rarest op and extended along edges, so it is linear in practice.
// The pattern must be connected.
std::vector<key2nodes_t> FindMatches(const SSAGraph& graph, const PMPattern& pattern);

}  // namespace wherry::mir
