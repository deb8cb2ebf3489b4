// Removes statements that give their argument unchanged.
#include <algorithm>

#include "pass/pass_registry.h"
#include "pass/rearrange.h"

namespace wherry::mir {
namespace {

bool IsNumber(const Attribute& value, double number) {
  const Scalar* scalar = std::get_if<Scalar>(&value);
  return scalar != nullptr && scalar->to<double>() == number;
}

bool SameShape(const MetaTensor& a, const MetaTensor& b) { return a.rank_known && b.rank_known && a.dims == b.dims; }

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
  if (op == "pad") {
    if (!stmt.HasAttr("paddings")) return nullptr;
    const auto& paddings = stmt.GetAttr<IntArray>("paddings");
    return std::all_of(paddings.begin(), paddings.end(), [](int64_t padding) { return padding == 0; }) ? x : nullptr;
  }
  if (op == "transpose") {
    const std::vector<int64_t> perm = Permutation(stmt);
    return std::is_sorted(perm.begin(), perm.end()) ? x : nullptr;
  }
  if (IsView(op) || op == "expand" || op == "tile" || op == "slice") {
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
      Node* source = Unchanged(stmt->AsStmt());
      if (source == nullptr) continue;
      Note(stmt->AsStmt().op_type() + " of " + source->AsArg().name + " removed");
      graph->ReplaceUses(stmt->AsStmt().output(), source);
      graph->EraseStmt(stmt);
    }
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(eliminate_identity_pass, wherry::mir::EliminateIdentityPass);
