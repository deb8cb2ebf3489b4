// Logs the type of every argument at debug level: "* ARG x type: f32[N,3,48,192] nhwc".
#include "base/log.h"
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

class ArgumentTypeDisplayPass : public DebugPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    WHERRY_LOG(kDebug) << "== Argument types ==";
    for (const Node* node : graph->nodes()) {
      if (node->IsArg())
        WHERRY_LOG(kDebug) << "* ARG " << node->AsArg().name << " type: " << node->AsArg().type.DebugString();
    }
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(argument_type_display_pass, wherry::mir::ArgumentTypeDisplayPass).BindTargets({TARGET(kAny)});
