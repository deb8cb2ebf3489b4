// gelu from the pieces that exporters write: x / 2 * (1 + erf(x / sqrt(2))), multiplied in any order.
#include <cmath>

#include "ir/fuse_base.h"
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

// Which two of the three factors x, 1 + erf and 1/2 are multiplied first.
enum class First : uint8_t { kXErf, kXHalf, kErfHalf };

// Whether the argument is a float weight of one element with this value (to the rounding of f32).
bool IsConstant(const SSAGraph& graph, const Node* arg, double value) {
  const DenseTensor* weight = graph.TryWeight(arg);
  return weight != nullptr && weight->numel() == 1 && weight->dtype() == DataType::kFloat &&
         std::abs(weight->data<float>()[0] - value) <= 1e-6 * std::abs(value);
}

class GeluFuser : public FuseBase {
 public:
  GeluFuser(bool divides, First first) : divides_(divides), first_(first) {}

 protected:
  void BuildPattern() override {
    PMNode* x = VarNode("x")->AsInput();
    PMNode* root = VarNode("root")->assert_is_persistable_var();
    PMNode* one = VarNode("one")->assert_is_persistable_var();
    PMNode* half = VarNode("half")->assert_is_persistable_var();
    PMNode* shrink = OpNode("shrink", divides_ ? "divide" : "multiply");
    PMNode* small = VarNode("small")->AsIntermediate();
    PMNode* erf = OpNode("erf", "erf");
    PMNode* value = VarNode("value")->AsIntermediate();
    PMNode* add = OpNode("add", "add");
    PMNode* sum = VarNode("sum")->AsIntermediate();
    PMNode* multiply = OpNode("multiply", "multiply");
    PMNode* product = VarNode("product")->AsIntermediate();
    PMNode* end = OpNode("end", "multiply");
    PMNode* out = VarNode("out")->AsOutput();
    std::vector<PMNode*>{x, root} >> *shrink >> *small >> *erf >> *value;
    std::vector<PMNode*>{value, one} >> *add >> *sum;
    PMNode* const last = first_ == First::kXErf ? half : first_ == First::kXHalf ? sum : x;
    std::vector<PMNode*>{first_ == First::kErfHalf ? sum : x, first_ == First::kXErf ? sum : half} >> *multiply >>
        *product;
    std::vector<PMNode*>{product, last} >> *end >> *out;
    if (divides_) {
      x->AsParam(shrink, "x");
      root->AsParam(shrink, "y");
    }
  }

  bool Check(SSAGraph* graph, const key2nodes_t& matched) override {
    const double root = std::sqrt(divides_ ? 2 : 0.5);
    return IsConstant(*graph, matched.at("root"), root) && IsConstant(*graph, matched.at("one"), 1) &&
           IsConstant(*graph, matched.at("half"), 0.5) &&
           matched.at("x")->AsArg().type.dims == matched.at("out")->AsArg().type.dims;
  }

  void InsertNewNode(SSAGraph* graph, const key2nodes_t& matched) override {
    graph->NewStmt(GenOpDesc(matched), matched.at("end"));
  }

  OpDesc GenOpDesc(const key2nodes_t& matched) override {
    OpDesc desc("gelu");
    desc.SetInput("x", {matched.at("x")->AsArg().name});
    desc.SetOutput("out", {matched.at("out")->AsArg().name});
    desc.SetLabel(matched.at("end")->AsStmt().label());
    return desc;
  }

 private:
  bool divides_;  // by sqrt(2), rather than multiplying by sqrt(1/2)
  First first_;
};

class GeluFusePass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    int fused = 0;
    for (const bool divides : {true, false}) {
      for (const First first : {First::kXErf, First::kXHalf, First::kErfHalf}) {
        GeluFuser fuser(divides, first);
        fused += fuser(graph.get());
      }
    }
    if (fused > 0) Note(std::to_string(fused) + " gelu put together");
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(gelu_fuse_pass, wherry::mir::GeluFusePass).BindTargets({TARGET(kAny)}).BindKernel("gelu");
