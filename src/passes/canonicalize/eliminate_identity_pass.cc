// Removes statements that give their argument unchanged, and shortens chains of shape changes.
#include <algorithm>
#include <numeric>
#include <string_view>

#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

bool IsNumber(const Attribute& value, double number) {
  const Scalar* scalar = std::get_if<Scalar>(&value);
  return scalar != nullptr && scalar->to<double>() == number;
}

bool SameShape(const MetaTensor& a, const MetaTensor& b) { return a.rank_known && b.rank_known && a.dims == b.dims; }

std::vector<int64_t> Permutation(const Node::Stmt& transpose) {
  std::vector<int64_t> perm = transpose.GetAttr<std::vector<int64_t>>("perm");
  if (perm.empty()) {  // reverses the axes
    perm.resize(static_cast<size_t>(transpose.input("x")->AsArg().type.rank()));
    std::iota(perm.rbegin(), perm.rend(), int64_t{0});
  }
  const auto rank = static_cast<int64_t>(perm.size());
  for (int64_t& axis : perm) axis += axis < 0 ? rank : 0;
  return perm;
}

bool Reverses(const Node::Stmt& slice) {
  const auto& steps = slice.GetAttr<std::vector<int64_t>>("steps");
  return std::any_of(steps.begin(), steps.end(), [](int64_t step) { return step < 0; });
}

// The argument that the statement's result equals, or null.
Node* Unchanged(const Node::Stmt& stmt) {
  const std::string op = stmt.op_type();
  if (op == "concat" && stmt.input_list("x").size() == 1) return stmt.input("x");
  Node* x = stmt.input("x");
  const Node* out = stmt.output();
  if (x == nullptr || out == nullptr || !x->AsArg().type.rank_known) return op == "assign" ? x : nullptr;
  const MetaTensor& type = x->AsArg().type;
  if (op == "assign") return x;
  if (op == "dropout") return stmt.GetAttr<std::string>("mode") == "upscale_in_train" ? x : nullptr;
  if (op == "scale") {
    const bool one = stmt.HasAttr("scale") && IsNumber(stmt.attrs().at("scale"), 1);
    return one && stmt.HasAttr("bias") && IsNumber(stmt.attrs().at("bias"), 0) ? x : nullptr;
  }
  if (op == "cast") return stmt.GetAttr<DataType>("dtype") == type.dtype ? x : nullptr;
  if (op == "transpose") {
    const std::vector<int64_t> perm = Permutation(stmt);
    return std::is_sorted(perm.begin(), perm.end()) ? x : nullptr;
  }
  if (op == "reshape" || op == "squeeze" || op == "unsqueeze" || op == "flatten" || op == "expand" || op == "tile" ||
      op == "slice") {
    // A slice of the whole and an expand to the same shape change nothing, nor can the others without changing the
    // shape.
    if (op == "slice" && Reverses(stmt)) return nullptr;
    return SameShape(type, out->AsArg().type) ? x : nullptr;
  }
  return nullptr;
}

class EliminateIdentityPass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    for (Node* stmt : graph->StmtTopologicalOrder()) {
      Shorten(graph.get(), stmt);
      Node* source = Unchanged(stmt->AsStmt());
      if (source == nullptr) continue;
      Note(stmt->AsStmt().op_type() + " of " + source->AsArg().name + " removed");
      graph->ReplaceUses(stmt->AsStmt().output(), source);
      graph->EraseStmt(stmt);
    }
  }

 private:
  // reshape of a reshape needs the first no more; transpose of a transpose is one; the same for repeated idempotent
  // ops.
  static void Shorten(SSAGraph* graph, Node* node) {
    const Node::Stmt& stmt = node->AsStmt();
    const std::string op = stmt.op_type();
    Node* x = stmt.input("x");
    if (x == nullptr || x->producer() == nullptr) return;
    Node* before = x->producer();
    const std::string first = before->AsStmt().op_type();
    Node* source = before->AsStmt().input("x");
    if (source == nullptr || before->AsStmt().input_list("x").size() != 1) return;
    if (op == "transpose" && first == "transpose") {
      if (!source->AsArg().type.rank_known) return;
      const std::vector<int64_t> outer = Permutation(stmt);
      const std::vector<int64_t> inner = Permutation(before->AsStmt());
      if (outer.size() != inner.size()) return;
      std::vector<int64_t> both;
      for (int64_t axis : outer) both.push_back(inner.at(static_cast<size_t>(axis)));
      graph->SetAttr(node, "perm", both);
    } else if (op == "reshape" &&
               (first == "reshape" || first == "flatten" || first == "squeeze" || first == "unsqueeze")) {
      // An entry 0 copies a dimension of what it is applied to.
      if (!stmt.HasAttr("shape") || stmt.GetAttr<bool>("allow_zero")) return;
      const IntArray& shape = stmt.GetAttr<IntArray>("shape");
      if (std::count(shape.begin(), shape.end(), 0) != 0) return;
    } else if (!((op == "relu" || op == "abs" || op == "relu6" || op == "floor" || op == "ceil" || op == "round") &&
                 first == op)) {
      return;
    }
    graph->SetInput(node, "x", {source});
    if (x->outlinks().empty() && !graph->IsOutput(x)) graph->EraseStmt(before);
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(eliminate_identity_pass, wherry::mir::EliminateIdentityPass);
