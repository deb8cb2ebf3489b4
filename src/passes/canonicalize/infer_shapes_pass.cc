// Sets the type of every value by InferMeta: element types, shapes with symbols, known integer values. Child graphs are
// inferred with the statement that owns them.
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

class InferShapesPass : public StmtPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    if (graph->is_child()) return;
    for (Node* stmt : graph->StmtTopologicalOrder()) InferStmt(graph.get(), stmt);
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(infer_shapes_pass, wherry::mir::InferShapesPass);
