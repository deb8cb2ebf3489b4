// hardswish from the pieces that exporters write: x * clip(x + 3, 0, 6) / 6, and x * hardsigmoid(x) with slope 1/6 and
// offset 1/2.
#include <cmath>

#include "ir/fuse_base.h"
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

// Whether the argument is a float weight of one element with this value (to the rounding of f32).
bool IsConstant(const SSAGraph& graph, const Node* arg, double value) {
  const DenseTensor* weight = graph.TryWeight(arg);
  return weight != nullptr && weight->numel() == 1 && weight->dtype() == DataType::kFloat &&
         std::abs(weight->data<float>()[0] - value) <= 1e-6 * std::abs(value);
}

bool IsScalar(const Node::Stmt& stmt, const char* name, double value) {
  return stmt.HasAttr(name) && std::abs(stmt.GetAttr<Scalar>(name).to<double>() - value) <= 1e-6;
}

class HardswishFuser : public FuseBase {
 public:
  explicit HardswishFuser(bool multiplies) : multiplies_(multiplies) {}

 protected:
  void BuildPattern() override {
    PMNode* x = VarNode("x")->AsInput();
    PMNode* three = VarNode("three")->assert_is_persistable_var();
    PMNode* add = OpNode("add", "add");
    PMNode* shifted = VarNode("shifted")->AsIntermediate();
    PMNode* clip = OpNode("clip")->assert_is_op_any({"clip", "relu6"});
    PMNode* clipped = VarNode("clipped")->AsIntermediate();
    PMNode* gate = OpNode("gate", "multiply");
    PMNode* gated = VarNode("gated")->AsIntermediate();
    PMNode* six = VarNode("six")->assert_is_persistable_var();
    PMNode* end = OpNode("end", multiplies_ ? "multiply" : "divide");
    PMNode* out = VarNode("out")->AsOutput();
    std::vector<PMNode*>{x, three} >> *add >> *shifted >> *clip >> *clipped;
    std::vector<PMNode*>{x, clipped} >> *gate >> *gated;
    std::vector<PMNode*>{gated, six} >> *end >> *out;
    if (!multiplies_) {
      gated->AsParam(end, "x");
      six->AsParam(end, "y");
    }
  }

  bool Check(SSAGraph* graph, const key2nodes_t& matched) override {
    const Node::Stmt& clip = matched.at("clip")->AsStmt();
    const bool zero_to_six = clip.op_type() == "relu6" || (IsScalar(clip, "min", 0) && IsScalar(clip, "max", 6));
    return zero_to_six && IsConstant(*graph, matched.at("three"), 3) &&
           IsConstant(*graph, matched.at("six"), multiplies_ ? 1.0 / 6 : 6) &&
           matched.at("x")->AsArg().type.dims == matched.at("out")->AsArg().type.dims;
  }

  void InsertNewNode(SSAGraph* graph, const key2nodes_t& matched) override {
    graph->NewStmt(GenOpDesc(matched), matched.at("end"));
  }

  OpDesc GenOpDesc(const key2nodes_t& matched) override {
    OpDesc desc("hardswish");
    desc.SetInput("x", {matched.at("x")->AsArg().name});
    desc.SetOutput("out", {matched.at("out")->AsArg().name});
    desc.SetLabel(matched.at("end")->AsStmt().label());
    return desc;
  }

 private:
  bool multiplies_;  // by 1/6 at the end, rather than dividing by 6
};

class GatedHardswishFuser : public FuseBase {
 protected:
  void BuildPattern() override {
    PMNode* x = VarNode("x")->AsInput();
    PMNode* sigmoid = OpNode("sigmoid", "hardsigmoid");
    PMNode* gate = VarNode("gate")->AsIntermediate();
    PMNode* multiply = OpNode("multiply", "multiply");
    PMNode* out = VarNode("out")->AsOutput();
    *x >> *sigmoid >> *gate;
    std::vector<PMNode*>{x, gate} >> *multiply >> *out;
  }

  bool Check(SSAGraph* /*graph*/, const key2nodes_t& matched) override {
    const Node::Stmt& sigmoid = matched.at("sigmoid")->AsStmt();
    return std::abs(sigmoid.GetAttr<double>("slope") - 1.0 / 6) <= 1e-6 &&
           std::abs(sigmoid.GetAttr<double>("offset") - 0.5) <= 1e-6;
  }

  void InsertNewNode(SSAGraph* graph, const key2nodes_t& matched) override {
    graph->NewStmt(GenOpDesc(matched), matched.at("multiply"));
  }

  OpDesc GenOpDesc(const key2nodes_t& matched) override {
    OpDesc desc("hardswish");
    desc.SetInput("x", {matched.at("x")->AsArg().name});
    desc.SetOutput("out", {matched.at("out")->AsArg().name});
    desc.SetLabel(matched.at("multiply")->AsStmt().label());
    return desc;
  }
};

class HardswishFusePass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    HardswishFuser divides(false);
    HardswishFuser multiplies(true);
    GatedHardswishFuser gated;
    const int fused = divides(graph.get()) + multiplies(graph.get()) + gated(graph.get());
    if (fused > 0) Note(std::to_string(fused) + " hardswish put together");
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(hardswish_fuse_pass, wherry::mir::HardswishFusePass)
    .BindTargets({TARGET(kAny)})
    .BindKernel("hardswish");
