// SSAGraph: one block of a program as a graph that passes work on. Lossless to and from Program.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/node.h"
#include "ir/program.h"

namespace wherry::mir {

// What all graphs of one program share.
struct GraphShared {
  WeightTable weights;
  std::shared_ptr<SymbolTable> symbols;
  std::vector<Place> valid_places;  // in order of preference
  std::map<std::string, std::string> metadata;
  // For reports: how often a FuseBase looked for its pattern, and how many matches were replaced.
  size_t searches = 0;
  size_t replaced = 0;
  uint64_t edits = 0;  // counts every change made through a graph's methods
};

// Not thread-safe. Nodes keep their address until erased. Invariants (checked by Verify):
//  1. every statement has a schema and attributes that are valid for it;
//  2. every argument has at most one producer, and weights and graph inputs have none;
//  3. an argument without a producer is a weight or a graph input;
//  4. links equal bindings, both ways;
//  5. there is no cycle;
//  6. argument names are unique, and a weight's name is in the weight table with the meta of its type;
//  7. graph outputs are arguments of the graph;
//  8. required parameters are bound, each to the right number of arguments;
//  9. a child graph has the inputs and outputs that its owner gives and takes (op/control_flow.h);
// 10. side tables refer to living nodes; what an alias shares the memory of is not a weight, and an input only for a
// view.
class SSAGraph {
 public:
  explicit SSAGraph(std::shared_ptr<GraphShared> shared) : shared_(std::move(shared)) {}
  SSAGraph(const SSAGraph&) = delete;
  SSAGraph& operator=(const SSAGraph&) = delete;

  // Takes the program apart. The weights move.
  static std::unique_ptr<SSAGraph> FromProgram(Program&& program, std::vector<Place> valid_places = {});
  // And puts it together again; weights that nothing uses are dropped. The graph is left empty.
  static Program ToProgram(std::unique_ptr<SSAGraph> graph);
  // A copy that shares weights' memory (for dumps and checks).
  Program Snapshot() const;

  // --- reading
  const std::vector<Place>& valid_places() const { return shared_->valid_places; }
  SymbolTable& symbols() const { return *shared_->symbols; }
  const GraphShared& shared() const { return *shared_; }
  const NodeList& inputs() const { return inputs_; }
  const NodeList& outputs() const { return outputs_; }
  // What users call the outputs, one per output.
  const std::vector<std::string>& output_names() const { return output_names_; }
  // Whether a statement of another graph owns this one.
  bool is_child() const { return is_child_; }
  bool IsInput(const Node* arg) const;
  bool IsOutput(const Node* arg) const;
  // Statements in a dependency order that keeps the program's order where it can; deterministic.
  NodeList StmtTopologicalOrder() const;
  NodeList nodes() const;            // all, by id
  NodeList StmtsWithBlocks() const;  // by id
  size_t stmt_count() const { return stmt_count_; }
  // Statements of one type (or an alias of it), without looking at any.
  size_t stmt_count(const std::string& type) const;
  Node* FindArg(const std::string& name) const;  // null if there is none
  const DenseTensor& WeightTensor(const Node* arg) const;
  // The weight's tensor if the node is a weight, else null.
  const DenseTensor* TryWeight(const Node* arg) const;
  // Calls fn for this graph and all child graphs, innermost first.
  void ForEachGraph(const std::function<void(SSAGraph&)>& fn);

  // --- building and editing; names are made unique by a suffix
  Node* NewArg(const std::string& name, MetaTensor type = {});
  Node* NewWeight(const std::string& name, DenseTensor tensor);
  Node* NewInput(const std::string& name, MetaTensor type);
  // `names` empty: the arguments' own names.
  void SetOutputs(NodeList outputs, std::vector<std::string> names = {});
  // A statement by nodes. Validates against the schema and fills defaults; `near` gives it that statement's place in
  // the order.
  Node* NewStmt(const std::string& type, const Binding& inputs, const Binding& outputs, const AttributeMap& attrs = {},
                const Node* near = nullptr, std::vector<std::unique_ptr<SSAGraph>> blocks = {});
  // A statement by names: inputs must exist, outputs that do not exist are made. This is what FuseBase::InsertNewNode
  // uses.
  Node* NewStmt(const OpDesc& desc, const Node* near = nullptr);
  // What FuseBase tells: one search, that replaced so many matches.
  void CountSearch(int replaced) {
    ++shared_->searches;
    shared_->replaced += static_cast<size_t>(replaced);
  }
  void SetLabel(Node* stmt, std::string label);
  void SetAttr(Node* stmt, const std::string& name, const Attribute& value);  // validated against the schema
  void SetInput(Node* stmt, const std::string& param, NodeList args);
  // Arguments without a producer become the statement's results instead of those it had, which stay if they have
  // another producer.
  void SetOutput(Node* stmt, const std::string& param, NodeList args);
  // Gives the statements this order, which must respect dependencies.
  void Reorder(const NodeList& order);
  // Every use of `from` (graph outputs too, which keep the names users know) becomes a use of `to`. `from` keeps its
  // producer.
  void ReplaceUses(Node* from, Node* to);
  // Uses of `from` in one statement only.
  void ReplaceInput(Node* stmt, Node* from, Node* to);
  // Removes a statement. Its results stay if something uses them (they must then get another producer before Verify),
  // else go too.
  void EraseStmt(Node* stmt);
  void EraseArg(Node* arg);  // must be unused and without producer
  // Lets go of a tensor that NewWeight took here, when its argument is erased and no other graph has it by its name.
  void DropWeight(const std::string& name);
  std::string UniqueName(const std::string& stem) const;
  // Puts the statements of one block of an `if` in its place; returns them, in order. The block's names are kept where
  // they are free.
  NodeList InlineBlock(Node* stmt, size_t index);
  // The other way round: statements, in order and without a way between two of them that leads over others, become the
  // block of a new statement of this type, which has captures. What others use of their results are its results.
  // Returns it.
  Node* Outline(const NodeList& stmts, const std::string& type, const AttributeMap& attrs);
  // Removes a capture, by its place, from a statement and its blocks if no block uses it; says whether it did.
  bool EraseUnusedCapture(Node* stmt, size_t index);

  // --- side tables
  const KernelPick* Pick(const Node* stmt) const;  // null: not picked
  void SetPick(const Node* stmt, KernelPick pick);
  void ClearPick(const Node* stmt) { shared_->edits += picks_.erase(stmt); }
  Node* Alias(const Node* arg) const;  // the argument whose memory it shares; null: its own
  void SetAlias(const Node* arg, Node* source);
  void ClearAliases();

  // Checks the invariants; Error(kInternal) that names the first broken one with its number, and the node.
  void Verify() const;
  // How many changes were made through the methods of this graph and of those it shares a program with. Types are
  // changed in place and not counted.
  uint64_t edits() const { return shared_->edits; }
  // Two numbers that change when the structure (nodes, links) or anything else (attributes, types, side tables,
  // weights) does.
  struct Fingerprint {
    uint64_t topology = 0;
    uint64_t content = 0;
    friend bool operator==(const Fingerprint& a, const Fingerprint& b) {
      return a.topology == b.topology && a.content == b.content;
    }
  };
  Fingerprint ComputeFingerprint() const;

 private:
  friend class GraphConverter;

  Node* AddNode(Node::Role role);
  void Link(Node* stmt);
  void Unlink(Node* stmt);

  std::shared_ptr<GraphShared> shared_;
  std::vector<std::unique_ptr<Node>> nodes_;  // by id; null where erased
  size_t stmt_count_ = 0;
  std::unordered_map<const OpSchema*, size_t> counts_;
  mutable NodeList order_;  // StmtTopologicalOrder, kept until links change; empty: not known
  std::unordered_map<std::string, Node*> args_by_name_;
  NodeList inputs_;
  NodeList outputs_;
  std::vector<std::string> output_names_;
  std::unordered_map<const Node*, KernelPick> picks_;
  std::unordered_map<const Node*, Node*> aliases_;
  bool is_child_ = false;
  int64_t next_order_ = 0;
  mutable std::unordered_map<std::string, int> suffixes_;  // UniqueName: the last one given to each stem
};

// Runs InferMeta for one statement from its arguments' types and sets its results' types. Control flow infers its child
// graphs. Errors name the op.
void InferStmt(SSAGraph* graph, Node* stmt);
// A statement's arguments as InferMeta takes them; they point into the graph.
std::vector<BoundArg> BindArgs(const Node::Stmt& stmt);

}  // namespace wherry::mir
