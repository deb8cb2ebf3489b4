// Views (reshape, squeeze, unsqueeze, flatten) go behind elementwise operators where that brings an operator next to
// one whose epilogue may take it, or two views together.
//   relu(squeeze(conv(x))) = squeeze(relu(conv(x)))
#include <string_view>

#include "ir/fuse_util.h"
#include "pass/pass_registry.h"
#include "pass/rearrange.h"

namespace wherry::mir {
namespace {

class SinkViewsPass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    int sunk = 0;
    for (Node* stmt : graph->StmtTopologicalOrder()) {
      while (Node* const view = ViewBefore(*graph, stmt)) {
        Swap(graph.get(), view, stmt);
        ++sunk;
      }
    }
    if (sunk > 0) Note(std::to_string(sunk) + " views moved behind elementwise operators");
  }

 private:
  // The view whose result nothing but the elementwise statement reads; null if there is none.
  static Node* ViewBefore(const SSAGraph& graph, const Node* node) {
    const Node::Stmt& stmt = node->AsStmt();
    const bool unary = stmt.schema().Has(kTraitUnary);
    if ((!unary && !stmt.schema().Has(kTraitBinary)) || graph.Pick(node) != nullptr) return nullptr;
    const Node* const x = stmt.input("x");
    const Node* const out = stmt.output();
    if (x == nullptr || out == nullptr || x->producer() == nullptr || !HasOneUse(graph, x)) return nullptr;
    if (!IsView(x->producer()->AsStmt().op_type())) return nullptr;
    if (!Pays(x->producer()->AsStmt().input("x"), out, unary)) return nullptr;
    const MetaTensor& source = x->producer()->AsStmt().input("x")->AsArg().type;
    const MetaTensor& type = x->AsArg().type;
    if (!source.rank_known || !type.rank_known || out->AsArg().type.dims != type.dims) return nullptr;
    if (!unary) {
      const DenseTensor* const number = graph.TryWeight(stmt.input("y"));
      const bool single = number != nullptr && number->numel() == 1 && number->shape().rank() <= source.rank();
      if (!single) return nullptr;
    }
    return x->producer();
  }

  // A number stays where it is beside a product, whose operands' factors have a pass of their own.
  static bool Pays(const Node* source, const Node* out, bool unary) {
    if (out->outlinks().size() == 1 && IsView(out->outlinks()[0]->AsStmt().op_type())) return true;
    if (source->producer() == nullptr) return false;
    const OpSchema& before = source->producer()->AsStmt().schema();
    const std::string_view op = before.name;
    if (op == "conv2d" || op == "conv2d_transpose" || before.Has(kTraitBinary)) return true;
    if (before.Has(kTraitUnary)) return !IsView(op);
    return unary && (op == "fc" || op == "matmul" || op == "mul" || op == "fused_matmul");
  }

  static void Swap(SSAGraph* graph, Node* view, Node* stmt) {
    Node* const source = view->AsStmt().input("x");
    Node* const between = stmt->AsStmt().input("x");
    Node* const out = stmt->AsStmt().output();
    MetaTensor type = source->AsArg().type.WithoutValues();
    type.dtype = out->AsArg().type.dtype;
    Node* const computed = graph->NewArg(out->AsArg().name, std::move(type));
    graph->SetInput(stmt, "x", {source});
    graph->SetOutput(stmt, "out", {computed});
    graph->SetInput(view, "x", {computed});
    graph->SetOutput(view, "out", {out});
    graph->EraseArg(between);
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(sink_views_pass, wherry::mir::SinkViewsPass);
