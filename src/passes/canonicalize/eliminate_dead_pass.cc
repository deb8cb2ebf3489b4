// Removes statements whose results nothing uses, and captures that no block does. Nothing in a program has an effect
// but through its results.
#include <algorithm>

#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

class EliminateDeadPass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    NodeList order = graph->StmtTopologicalOrder();
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      const NodeList& results = (*it)->outlinks();
      const bool used = std::any_of(results.begin(), results.end(), [&graph](const Node* result) {
        return !result->outlinks().empty() || graph->IsOutput(result);
      });
      if (!used) {
        graph->EraseStmt(*it);
      } else if (!(*it)->AsStmt().blocks().empty()) {
        EraseCaptures(graph.get(), *it);
      }
    }
  }

 private:
  static void EraseCaptures(SSAGraph* graph, Node* stmt) {
    for (size_t i = stmt->AsStmt().input_list("captures").size(); i-- > 0;) graph->EraseUnusedCapture(stmt, i);
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(eliminate_dead_pass, wherry::mir::EliminateDeadPass);
