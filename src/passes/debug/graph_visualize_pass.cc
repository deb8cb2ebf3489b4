// Writes the graph as Graphviz to the file that the option "graph_visualize_pass.file" names, or to the log at debug
// level.
#include "base/atomic_file.h"
#include "base/log.h"
#include "ir/dot.h"
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

class GraphVisualizePass : public DebugPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    if (graph->is_child()) return;  // shown with its owner
    const std::string dot = ToDot(graph->Snapshot());
    const auto file = context().options.find("graph_visualize_pass.file");
    if (file == context().options.end()) {
      WHERRY_LOG(kDebug) << dot;
      return;
    }
    AtomicFile out(file->second);
    out.Write(dot);
    out.Commit();
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(graph_visualize_pass, wherry::mir::GraphVisualizePass).BindTargets({TARGET(kAny)});
