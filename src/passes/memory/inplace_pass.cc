// Marks results that may use their argument's memory: views, and results that the schema allows to overwrite an
// argument nobody else reads. The runtime honours a mark when the sizes agree.
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

class InplacePass : public StmtPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    graph->ClearAliases();
    int marked = 0;
    for (Node* stmt : graph->StmtTopologicalOrder()) {
      const OpSchema& schema = stmt->AsStmt().schema();
      std::vector<ArgOutputPair> pairs(schema.inplace.begin(), schema.inplace.end());
      if (schema.Has(kTraitView)) pairs.push_back({0, 0});
      for (const ArgOutputPair& pair : pairs) {
        Node* arg = stmt->AsStmt().input(schema.args[static_cast<size_t>(pair.arg)].name);
        Node* result = stmt->AsStmt().output(schema.outputs[static_cast<size_t>(pair.output)].name);
        if (arg == nullptr || result == nullptr || !MayShare(*graph, arg, result, schema.Has(kTraitView))) continue;
        graph->SetAlias(result, arg);
        ++marked;
        break;
      }
    }
    if (marked > 0) Note(std::to_string(marked) + " results share their argument's memory");
  }

 private:
  static bool MayShare(const SSAGraph& graph, const Node* arg, const Node* result, bool view) {
    // Inputs, captures and weights are not ours to overwrite.
    const Node* producer = arg->producer();
    if (producer == nullptr || graph.IsOutput(arg) || arg->outlinks().size() != 1) return false;
    const MetaTensor& from = arg->AsArg().type;
    const MetaTensor& to = result->AsArg().type;
    if (!from.rank_known || !to.rank_known || from.dtype != to.dtype) return false;
    if (view) return from.layout == DataLayout::kNCHW && to.layout == DataLayout::kNCHW;
    return from.dims == to.dims && from.layout == to.layout;
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(inplace_pass, wherry::mir::InplacePass).BindTargets({TARGET(kAny)});
