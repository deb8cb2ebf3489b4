// Sets the layout of every value from the kernels that make it. Inputs and weights lie as they came.
#include "kernel/kernel_registry.h"
#include "pass/kernel_choice.h"
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

class VariablePlaceInferencePass : public StmtPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    for (Node* stmt : graph->StmtTopologicalOrder()) {
      const KernelPick* pick = graph->Pick(stmt);
      if (pick == nullptr) continue;
      const Kernel* kernel = KernelFactory::Instance().FindKernel(stmt->AsStmt().schema().kernel, pick->provider,
                                                                  pick->variant, pick->key);
      if (kernel == nullptr) continue;
      for (Node* result : stmt->outlinks()) {
        MetaTensor& type = result->AsArg().type;
        type.layout = ResultLayout(*kernel, stmt, type);
      }
    }
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(variable_place_inference_pass, wherry::mir::VariablePlaceInferencePass).BindTargets({TARGET(kAny)});
