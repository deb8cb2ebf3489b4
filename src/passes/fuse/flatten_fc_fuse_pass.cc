// fc takes as many axes as it is told for its rows and flattens the others itself: a reshape, flatten or squeeze before
// it that keeps the rows is not needed.
#include <algorithm>
#include <string>

#include "ir/fuse_util.h"
#include "pass/pass_registry.h"
#include "pass/rearrange.h"

namespace wherry::mir {
namespace {

class FlattenFcFusePass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    int fused = 0;
    for (Node* stmt : graph->StmtTopologicalOrder()) {
      if (stmt->AsStmt().op_type() == "fc" && TakeSource(graph.get(), stmt)) ++fused;
    }
    if (fused > 0) Note(std::to_string(fused) + " fc without the reshape before them");
  }

 private:
  static bool TakeSource(SSAGraph* graph, Node* fc) {
    Node* flat = fc->AsStmt().input("input");
    Node* view = flat->producer();
    if (view == nullptr || !IsView(view->AsStmt().op_type())) return false;
    Node* source = view->AsStmt().input("x");
    const MetaTensor& from = source->AsArg().type;
    const MetaTensor& to = flat->AsArg().type;
    const auto rows = static_cast<size_t>(fc->AsStmt().GetAttr<int>("in_num_col_dims"));
    // With the rows' axes alike, so is the number of columns.
    if (!from.rank_known || !to.rank_known || from.dims.size() <= rows || to.dims.size() <= rows ||
        !std::equal(to.dims.begin(), to.dims.begin() + static_cast<int64_t>(rows), from.dims.begin())) {
      return false;
    }
    // A row of no elements would leave it open.
    const bool none = std::any_of(to.dims.begin(), to.dims.end(), [](const Dim& d) { return d == Dim(0); });
    if (none) return false;
    graph->SetInput(fc, "input", {source});
    EraseIfUnused(graph, flat);
    return true;
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(flatten_fc_fuse_pass, wherry::mir::FlattenFcFusePass).BindTargets({TARGET(kAny)}).BindKernel("fc");
