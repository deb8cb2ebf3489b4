// Picks a kernel for every statement: vetoes what cannot run, then compares by valid place, precision, estimated cost
// (conversions at the inputs counted), layout and priority, in the order that KernelPickFactor gives. Walks forward, so
// that each op sees the layout in which its arguments come.
#include "base/strings.h"
#include "kernel/cost.h"
#include "pass/kernel_choice.h"
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

class StaticKernelPickPass : public StmtPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    bool assumes_sizes = false;
    for (Node* stmt : graph->StmtTopologicalOrder()) {
      const OpSchema& schema = stmt->AsStmt().schema();
      if (schema.RunByRuntime() || std::string_view(schema.name) == "io_copy") continue;
      const KernelChoice choice = ChooseKernel(*graph, stmt, context());
      if (choice.kernel == nullptr) {
        // Loading reports all such ops at once; here the others still get theirs.
        graph->ClearPick(stmt);
        Note(StrCat(schema.name, " ", stmt->AsStmt().label(), ": no kernel: ", choice.reason));
        continue;
      }
      assumes_sizes = assumes_sizes || AssumesSizes(stmt);
      const Kernel& kernel = *choice.kernel;
      const DataLayout layout = kernel.key.layout();
      graph->SetPick(stmt, PickOf(choice));
      for (Node* result : stmt->outlinks()) {
        MetaTensor& type = result->AsArg().type;
        type.layout = ResultLayout(kernel, stmt, type);
      }
      const std::string result = stmt->outlinks().empty() ? "" : stmt->outlinks()[0]->AsArg().name;
      Note(std::string(schema.name) + " " + result + ": " + kernel.id() + " (" + kernel.key.DebugString() +
           (layout == DataLayout::kAny ? ", any layout" : "") + "), " + choice.reason);
    }
    if (assumes_sizes) Note(StrCat("estimates count a dynamic dimension as ", kAssumedDim));
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(static_kernel_pick_pass, wherry::mir::StaticKernelPickPass).BindTargets({TARGET(kAny)});
