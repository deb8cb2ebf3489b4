// reshape [N, C, ...] -> [N, G, C / G, ...], transpose of these two axes, reshape back: the channels of G groups in
// turns, shuffle_channel, which works in the layout of the convolutions around it.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "ir/fuse_base.h"
#include "pass/pass_registry.h"
#include "pass/rearrange.h"

namespace wherry::mir {
namespace {

class ShuffleChannelFuser : public FuseBase {
 protected:
  void BuildPattern() override {
    PMNode* x = VarNode("x")->AsInput();
    PMNode* split = OpNode("split", "reshape");
    PMNode* apart = VarNode("apart")->AsIntermediate();
    PMNode* swap = OpNode("swap", "transpose");
    PMNode* swapped = VarNode("swapped")->AsIntermediate();
    PMNode* join = OpNode("join", "reshape");
    PMNode* out = VarNode("out")->AsOutput();
    *x >> *split >> *apart >> *swap >> *swapped >> *join >> *out;
    x->AsParam(split, "x");
    swapped->AsParam(join, "x");
  }

  bool Check(SSAGraph* /*graph*/, const key2nodes_t& matched) override {
    const MetaTensor& x = matched.at("x")->AsArg().type;
    const MetaTensor& apart = matched.at("apart")->AsArg().type;
    const MetaTensor& out = matched.at("out")->AsArg().type;
    if (!x.rank_known || !apart.rank_known || !out.rank_known || x.rank() < 3 || apart.rank() < 3) return false;
    // What is left of the pixels, as many axes as there are, follows from the sizes being equal.
    if (x.dims != out.dims || x.dims[0] != apart.dims[0] || !x.dims[1].known() || !apart.dims[1].known() ||
        !apart.dims[2].known() || x.dims[1].value() != apart.dims[1].value() * apart.dims[2].value()) {
      return false;
    }
    std::vector<int64_t> perm = Permutation(matched.at("swap")->AsStmt());
    std::swap(perm[1], perm[2]);
    return std::is_sorted(perm.begin(), perm.end());
  }

  void InsertNewNode(SSAGraph* graph, const key2nodes_t& matched) override {
    graph->NewStmt(GenOpDesc(matched), matched.at("join"));
  }

  OpDesc GenOpDesc(const key2nodes_t& matched) override {
    OpDesc desc("shuffle_channel");
    desc.SetInput("x", {matched.at("x")->AsArg().name});
    desc.SetOutput("out", {matched.at("out")->AsArg().name});
    desc.SetAttr("groups", matched.at("apart")->AsArg().type.dims[1].value());
    desc.SetLabel(matched.at("join")->AsStmt().label());
    return desc;
  }
};

class ShuffleChannelFusePass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    ShuffleChannelFuser fuser;
    const int fused = fuser(graph.get());
    if (fused > 0) Note(std::to_string(fused) + " shuffles of channels");
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(shuffle_channel_fuse_pass, wherry::mir::ShuffleChannelFusePass)
    .BindTargets({TARGET(kAny)})
    .BindKernel("shuffle_channel");
