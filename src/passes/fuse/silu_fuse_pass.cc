// x * sigmoid(x) -> silu.
#include "ir/fuse_base.h"
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

class SiluFuser : public FuseBase {
 protected:
  void BuildPattern() override {
    PMNode* x = VarNode("x")->AsInput();
    PMNode* sigmoid = OpNode("sigmoid", "sigmoid");
    PMNode* gate = VarNode("gate")->AsIntermediate();
    PMNode* multiply = OpNode("multiply", "multiply");
    PMNode* out = VarNode("out")->AsOutput();
    *x >> *sigmoid >> *gate;
    std::vector<PMNode*>{x, gate} >> *multiply >> *out;
  }

  void InsertNewNode(SSAGraph* graph, const key2nodes_t& matched) override {
    graph->NewStmt(GenOpDesc(matched), matched.at("multiply"));
  }

  OpDesc GenOpDesc(const key2nodes_t& matched) override {
    OpDesc desc("silu");
    desc.SetInput("x", {matched.at("x")->AsArg().name});
    desc.SetOutput("out", {matched.at("out")->AsArg().name});
    desc.SetLabel(matched.at("multiply")->AsStmt().label());
    return desc;
  }
};

class SiluFusePass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    SiluFuser fuser;
    const int fused = fuser(graph.get());
    if (fused > 0) Note(std::to_string(fused) + " silu put together");
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(silu_fuse_pass, wherry::mir::SiluFusePass).BindTargets({TARGET(kAny)}).BindKernel("silu");
