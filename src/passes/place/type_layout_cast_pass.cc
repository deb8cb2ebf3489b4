// Puts a `layout` statement wherever a value does not lie as the kernel that reads it wants; one for each value and
// layout, however many readers there are. Outputs of the graph are plain.
#include <map>

#include "kernel/kernel_registry.h"
#include "pass/kernel_choice.h"
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

class TypeLayoutCastPass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    casts_.clear();
    for (Node* stmt : graph->StmtTopologicalOrder()) {
      const Kernel* kernel = Picked(*graph, stmt);
      const OpSchema& schema = stmt->AsStmt().schema();
      for (size_t i = 0; i < schema.args.size(); ++i) {
        NodeList args = stmt->AsStmt().input_list(schema.args[i].name);
        bool changed = false;
        for (Node*& arg : args) {
          const MetaTensor& type = arg->AsArg().type;
          // What has no kernel here (control flow, copies) passes values on as they are: plain, so that the other side
          // need not know.
          const DataLayout wanted = kernel == nullptr ? DataLayout::kNCHW : WantedLayout(*kernel, stmt, i, type);
          if (!type.rank_known || type.rank() < 3 || type.layout == wanted) continue;
          arg = Cast(graph.get(), arg, wanted, stmt);
          changed = true;
        }
        if (changed) graph->SetInput(stmt, schema.args[i].name, std::move(args));
      }
    }
    NodeList outputs = graph->outputs();
    for (Node*& output : outputs) {
      if (output->AsArg().type.rank() >= 3 && output->AsArg().type.layout != DataLayout::kNCHW) {
        output = Cast(graph.get(), output, DataLayout::kNCHW, nullptr);
      }
    }
    graph->SetOutputs(std::move(outputs), graph->output_names());
    if (!casts_.empty()) Note(std::to_string(casts_.size()) + " layout casts");
  }

 private:
  static const Kernel* Picked(const SSAGraph& graph, const Node* stmt) {
    const KernelPick* pick = graph.Pick(stmt);
    if (pick == nullptr) return nullptr;
    return KernelFactory::Instance().FindKernel(stmt->AsStmt().schema().kernel, pick->provider, pick->variant,
                                                pick->key);
  }

  Node* Cast(SSAGraph* graph, Node* arg, DataLayout layout, const Node* near) {
    Node*& cast = casts_[{arg->id(), layout}];
    if (cast != nullptr) return cast;
    MetaTensor type = arg->AsArg().type;
    type.layout = layout;
    cast = graph->NewArg(arg->AsArg().name + "." + ToString(layout), std::move(type));
    Node* stmt = graph->NewStmt("layout", {{"x", {arg}}}, {{"out", {cast}}}, {{"layout", layout}}, near);
    const KernelChoice choice = ChooseKernel(*graph, stmt, context());
    if (choice.kernel != nullptr) graph->SetPick(stmt, PickOf(choice));
    return cast;
  }

  std::map<std::pair<int, DataLayout>, Node*> casts_;
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(type_layout_cast_pass, wherry::mir::TypeLayoutCastPass)
    .BindTargets({TARGET(kAny)})
    .BindKernel("layout");
