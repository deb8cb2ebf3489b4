// Puts a `cast` statement wherever an argument that its op allows to be converted has another element type than the
// picked kernel.
#include <algorithm>
#include <map>

#include "pass/kernel_choice.h"
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

class TypePrecisionCastPass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    std::map<std::pair<int, DataType>, Node*> casts;
    for (Node* stmt : graph->StmtTopologicalOrder()) {
      const KernelPick* pick = graph->Pick(stmt);
      if (pick == nullptr || pick->key.dtype() == DataType::kAny) continue;
      const DataType wanted = pick->key.dtype();
      const OpSchema& schema = stmt->AsStmt().schema();
      for (int8_t index : schema.support_trans_dtype) {
        const char* param = schema.args[static_cast<size_t>(index)].name;
        NodeList args = stmt->AsStmt().input_list(param);
        bool changed = false;
        for (Node*& arg : args) {
          if (arg->AsArg().type.dtype == wanted) continue;
          Node*& cast = casts[{arg->id(), wanted}];
          if (cast == nullptr) cast = Cast(graph.get(), arg, wanted, stmt);
          arg = cast;
          changed = true;
        }
        if (changed) graph->SetInput(stmt, param, std::move(args));
      }
    }
    if (!casts.empty()) Note(std::to_string(casts.size()) + " precision casts");
  }

 private:
  Node* Cast(SSAGraph* graph, Node* arg, DataType dtype, const Node* near) const {
    MetaTensor type = arg->AsArg().type.WithoutValues();
    type.dtype = dtype;
    Node* cast = graph->NewArg(arg->AsArg().name + "." + ToString(dtype), std::move(type));
    Node* stmt = graph->NewStmt("cast", {{"x", {arg}}}, {{"out", {cast}}}, {{"dtype", dtype}}, near);
    const KernelChoice choice = ChooseKernel(*graph, stmt, context());
    if (choice.kernel != nullptr) graph->SetPick(stmt, PickOf(choice));
    return cast;
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(type_precision_cast_pass, wherry::mir::TypePrecisionCastPass)
    .BindTargets({TARGET(kAny)})
    .BindKernel("cast");
