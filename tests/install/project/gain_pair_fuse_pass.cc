// gain(gain(x, a), b) -> gain(x, a * b).
#include "wherry/extend.h"

namespace {

using wherry::OpDesc;
using wherry::mir::key2nodes_t;
using wherry::mir::PMNode;
using wherry::mir::SSAGraph;

class GainPairFuser : public wherry::mir::FuseBase {
 protected:
  void BuildPattern() override {
    PMNode* x = VarNode("x")->AsInput();
    PMNode* first = OpNode("first", "gain");
    PMNode* middle = VarNode("middle")->AsIntermediate();
    PMNode* second = OpNode("second", "gain");
    PMNode* out = VarNode("out")->AsOutput();
    *x >> *first >> *middle >> *second >> *out;
  }
  void InsertNewNode(SSAGraph* graph, const key2nodes_t& matched) override {
    graph->NewStmt(GenOpDesc(matched), matched.at("second"));
  }
  OpDesc GenOpDesc(const key2nodes_t& matched) override {
    OpDesc desc("gain");
    desc.SetInput("x", {matched.at("x")->AsArg().name});
    desc.SetOutput("out", {matched.at("out")->AsArg().name});
    desc.SetAttr("factor", matched.at("first")->AsStmt().GetAttr<float>("factor") *
                               matched.at("second")->AsStmt().GetAttr<float>("factor"));
    return desc;
  }
};

class GainPairFusePass : public wherry::mir::ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    GainPairFuser fuser;
    fuser(graph.get());
  }
};

}  // namespace

REGISTER_MIR_PASS(gain_pair_fuse_pass, GainPairFusePass).BindTargets({TARGET(kAny)}).BindKernel("gain");
