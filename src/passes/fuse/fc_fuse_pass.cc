// mul or matmul with a weight, + a bias per column -> fc.
#include "ir/fuse_base.h"
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

// A weight of n elements that an addition spreads over the last axis: [n], [1, n], [1, 1, n], ...
bool IsRow(const DenseTensor& weight, int64_t n, int rank) {
  const Shape& shape = weight.shape();
  return shape.rank() >= 1 && shape.rank() <= rank && shape.back() == n && shape.numel() == n;
}

class FcFuser : public FuseBase {
 public:
  explicit FcFuser(std::string product) : product_(std::move(product)) {}

 protected:
  void BuildPattern() override {
    PMNode* x = VarNode("x")->AsInput();
    PMNode* w = VarNode("w")->assert_is_persistable_var();
    PMNode* product = OpNode("product", product_);
    PMNode* product_out = VarNode("product_out")->AsIntermediate();
    PMNode* bias = VarNode("bias")->assert_is_persistable_var();
    PMNode* add = OpNode("add", "elementwise_add");
    PMNode* out = VarNode("out")->AsOutput();
    std::vector<PMNode*>{x, w} >> *product >> *product_out;
    std::vector<PMNode*>{product_out, bias} >> *add >> *out;
    x->AsParam(product, "x");
    w->AsParam(product, "y");
  }

  bool Check(SSAGraph* graph, const key2nodes_t& matched) override {
    const DenseTensor& weight = graph->WeightTensor(matched.at("w"));
    const DenseTensor& bias = graph->WeightTensor(matched.at("bias"));
    const MetaTensor& x = matched.at("x")->AsArg().type;
    const MetaTensor& product = matched.at("product_out")->AsArg().type;
    if (weight.shape().rank() != 2 || !x.rank_known || !product.rank_known) return false;
    // mul and matmul bring their operands to one type, and have kernels for integers.
    if (!IsFloating(x.dtype) || x.dtype != weight.dtype() || bias.dtype() != weight.dtype()) return false;
    const Node::Stmt& stmt = matched.at("product")->AsStmt();
    if (product_ == "mul") {
      if (stmt.GetAttr<int>("y_num_col_dims") != 1) return false;
    } else if (stmt.GetAttr<bool>("transpose_x") || stmt.GetAttr<bool>("transpose_y") || x.rank() < 2) {
      return false;
    }
    return IsRow(bias, weight.shape()[1], product.rank());
  }

  void InsertNewNode(SSAGraph* graph, const key2nodes_t& matched) override {
    const DenseTensor& bias = graph->WeightTensor(matched.at("bias"));
    row_ = matched.at("bias");
    if (bias.shape().rank() != 1) {
      TensorMeta meta = bias.meta();
      meta.shape = Shape{bias.numel()};
      row_ = graph->NewWeight(row_->AsArg().name, DenseTensor(meta, bias.buffer(), bias.offset()));
    }
    graph->NewStmt(GenOpDesc(matched), matched.at("product"));
  }

  OpDesc GenOpDesc(const key2nodes_t& matched) override {
    const Node::Stmt& product = matched.at("product")->AsStmt();
    OpDesc desc("fc");
    desc.SetInput("input", {matched.at("x")->AsArg().name});
    desc.SetInput("w", {matched.at("w")->AsArg().name});
    desc.SetInput("operands", {row_->AsArg().name});
    desc.SetOutput("out", {matched.at("out")->AsArg().name});
    desc.SetAttr("in_num_col_dims",
                 product_ == "mul" ? product.GetAttr<int>("x_num_col_dims") : matched.at("x")->AsArg().type.rank() - 1);
    EpilogueStep bias;
    bias.kind = EpilogueStep::Kind::kBias;
    bias.operand = 0;
    desc.SetAttr("epilogue", Epilogue{{bias}});
    desc.SetLabel(product.label());
    return desc;
  }

 private:
  std::string product_;
  Node* row_ = nullptr;  // the bias as [n], of the match at hand
};

class FcFusePass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    for (const char* product : {"mul", "matmul"}) {
      FcFuser fuser(product);
      const int fused = fuser(graph.get());
      if (fused > 0) Note(std::to_string(fused) + " " + product + " with a bias -> fc");
    }
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(fc_fuse_pass, wherry::mir::FcFusePass).BindTargets({TARGET(kAny)}).BindKernel("fc");
