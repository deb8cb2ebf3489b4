// Node: a statement (an operator call) or an argument (a value) of an SSAGraph.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "op/op_desc.h"
#include "op/op_schema.h"

namespace wherry::mir {

class Node;
class SSAGraph;

using NodeList = std::vector<Node*>;
// Parameter name -> nodes, in the order of the names (a map, for determinism).
using Binding = std::map<std::string, NodeList>;

// Links, bindings and child graphs are changed through SSAGraph only, which keeps def and use in step.
class Node {
 public:
  enum class Role : uint8_t { kArg, kStmt };

  // A value. Its producer is inlinks()[0], or there is none (graph inputs and weights).
  struct Arg {
    std::string name;  // unique in the graph, a label otherwise
    MetaTensor type;   // what is known about it
    bool is_weight = false;
  };
  // An operator call. Attributes are validated and complete.
  class Stmt {
   public:
    Stmt();
    ~Stmt();
    const OpSchema& schema() const { return *schema_; }
    std::string op_type() const { return schema_->name; }
    const AttributeMap& attrs() const { return attrs_; }
    template <typename T>
    decltype(auto) GetAttr(const std::string& name) const {
      return AttributeCast<T>(attrs_.at(name));
    }
    bool HasAttr(const std::string& name) const { return attrs_.count(name) != 0; }
    const Binding& inputs() const { return inputs_; }
    const Binding& outputs() const { return outputs_; }
    // The single node bound to a parameter; null when there is none.
    Node* input(const std::string& param) const;
    Node* output(const std::string& param = "out") const;
    // All of them; empty when there is none.
    const NodeList& input_list(const std::string& param) const;
    const NodeList& output_list(const std::string& param = "out") const;
    const std::vector<std::unique_ptr<SSAGraph>>& blocks() const { return blocks_; }
    const std::string& label() const { return label_; }
    // By names, as a program stores it (blocks left out).
    OpDesc desc() const;

   private:
    friend class SSAGraph;
    const OpSchema* schema_ = nullptr;
    AttributeMap attrs_;
    Binding inputs_;
    Binding outputs_;
    std::vector<std::unique_ptr<SSAGraph>> blocks_;
    std::string label_;
    mutable std::optional<uint64_t> attrs_hash_;  // of the fingerprint, until an attribute changes
  };

  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  int id() const { return id_; }  // unique in the graph, in order of creation
  bool IsArg() const { return role_ == Role::kArg; }
  bool IsStmt() const { return role_ == Role::kStmt; }
  // Error(kInternal) on the wrong role.
  Arg& AsArg();
  const Arg& AsArg() const;
  Stmt& AsStmt();
  const Stmt& AsStmt() const;
  // Arg: the producing statement / the using statements, each once, by id. Stmt: its distinct arguments / results.
  const NodeList& inlinks() const { return inlinks_; }
  const NodeList& outlinks() const { return outlinks_; }
  Node* producer() const { return IsArg() && !inlinks_.empty() ? inlinks_[0] : nullptr; }

 private:
  friend class SSAGraph;
  friend class GraphConverter;
  Node(Role role, int id) : role_(role), id_(id) {}

  Role role_;
  int id_;
  int64_t order_ = 0;      // statements: where it stood in the program; ties go by id
  bool is_input_ = false;  // arguments: of the graph
  bool is_output_ = false;
  NodeList inlinks_;
  NodeList outlinks_;
  Arg arg_;
  Stmt stmt_;
};

}  // namespace wherry::mir
