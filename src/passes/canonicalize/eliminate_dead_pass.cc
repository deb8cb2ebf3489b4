// Removes statements whose results nothing uses. Nothing in a program has an effect but through its results.
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
      if (!used) graph->EraseStmt(*it);
    }
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(eliminate_dead_pass, wherry::mir::EliminateDeadPass);
