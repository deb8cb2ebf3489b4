// conv2d, conv3d or a transposed one + batch_norm -> the convolution with other weights and a bias:
//   bn(conv(x, w) + b) = conv(x, w * s) + (b - mean) * s + beta,   s = gamma / sqrt(variance + epsilon), per output
//   channel.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "ir/fuse_base.h"
#include "pass/pass_registry.h"
#include "pass/scaled_weight.h"

namespace wherry::mir {
namespace {

class ConvBnFuser : public FuseBase {
 public:
  explicit ConvBnFuser(std::string op) : op_(std::move(op)), transposed_(op_.ends_with("_transpose")) {}

 protected:
  void BuildPattern() override {
    PMNode* conv = OpNode("conv", op_);
    PMNode* conv_out = VarNode("conv_out")->AsIntermediate();
    PMNode* bn = OpNode("bn", "batch_norm");
    PMNode* out = VarNode("out")->AsOutput();
    *conv >> *conv_out >> *bn >> *out;
    conv_out->AsParam(bn, "x");
    for (const char* name : {"mean", "variance"}) {
      PMNode* statistic = VarNode(name)->assert_is_persistable_var();
      *statistic >> *bn;
      statistic->AsParam(bn, name);
    }
  }

  bool Check(SSAGraph* graph, const key2nodes_t& matched) override {
    const Node::Stmt& conv = matched.at("conv")->AsStmt();
    const Node::Stmt& bn = matched.at("bn")->AsStmt();
    const auto is_f32 = [graph](const Node* arg) {
      const DenseTensor* weight = arg == nullptr ? nullptr : graph->TryWeight(arg);
      return weight != nullptr && weight->dtype() == DataType::kFloat;
    };
    if (!is_f32(conv.input("filter")) || !is_f32(bn.input("mean")) || !is_f32(bn.input("variance"))) return false;
    for (const char* name : {"scale", "bias"}) {
      if (bn.input(name) != nullptr && !is_f32(bn.input(name))) return false;
    }
    // A bias is folded with it; anything else in the epilogue comes before the normalisation and must stay there.
    const auto& steps = conv.GetAttr<Epilogue>("epilogue").steps;
    if (steps.size() > 1 || (steps.size() == 1 && steps[0].kind != EpilogueStep::Kind::kBias)) return false;
    if (steps.size() == 1 && !is_f32(conv.input("operands"))) return false;
    return Channels(graph->WeightTensor(conv.input("filter")), conv) == graph->WeightTensor(bn.input("mean")).numel();
  }

  void InsertNewNode(SSAGraph* graph, const key2nodes_t& matched) override {
    const Node::Stmt& conv = matched.at("conv")->AsStmt();
    const Node::Stmt& bn = matched.at("bn")->AsStmt();
    const DenseTensor& filter = graph->WeightTensor(conv.input("filter"));
    const auto channels = static_cast<size_t>(Channels(filter, conv));
    const auto values = [&](const Node* arg, float fallback) {
      if (arg == nullptr) return std::vector<float>(channels, fallback);
      const auto* data = graph->WeightTensor(arg).data<float>();
      return std::vector<float>(data, data + channels);
    };
    const std::vector<float> mean = values(bn.input("mean"), 0);
    const std::vector<float> variance = values(bn.input("variance"), 1);
    const std::vector<float> gamma = values(bn.input("scale"), 1);
    const std::vector<float> beta = values(bn.input("bias"), 0);
    const std::vector<float> old_bias = values(conv.input("operands"), 0);
    const auto epsilon = bn.GetAttr<double>("epsilon");

    DenseTensor new_bias(HostAllocator(),
                         TensorMeta{DataType::kFloat, Shape{static_cast<int64_t>(channels)}, DataLayout::kNCHW, 0});
    std::vector<double> scale(channels);
    for (size_t c = 0; c < channels; ++c) {
      scale[c] = gamma[c] / std::sqrt(variance[c] + epsilon);
      new_bias.mutable_data<float>()[c] = static_cast<float>((old_bias[c] - double{mean[c]}) * scale[c] + beta[c]);
    }
    // Rows of one output channel each. A transposed filter's go through the channels of a group, once for each of the
    // group's input channels.
    const int64_t row = filter.shape().numel(transposed_ ? 2 : 1, filter.shape().rank());
    const int64_t group_out = transposed_ ? filter.shape()[1] : filter.shape()[0];
    const int64_t group_in = transposed_ ? filter.shape()[0] / conv.GetAttr<int>("groups") : 1;
    std::vector<double> factors;
    for (int64_t r = 0; r < filter.shape()[0] * (transposed_ ? group_out : 1); ++r) {
      factors.push_back(scale[static_cast<size_t>(r / (group_out * group_in) * group_out + r % group_out)]);
    }
    filter_ = graph->NewWeight(conv.input("filter")->AsArg().name, ScaledWeight(filter, row, std::move(factors)));
    bias_ = graph->NewWeight(bn.input("mean")->AsArg().name + ".bias", std::move(new_bias));
    graph->NewStmt(GenOpDesc(matched), matched.at("bn"));
  }

  OpDesc GenOpDesc(const key2nodes_t& matched) override {
    OpDesc desc = matched.at("conv")->AsStmt().desc();
    desc.SetInput("filter", {filter_->AsArg().name});
    desc.SetInput("operands", {bias_->AsArg().name});
    desc.SetOutput("out", {matched.at("out")->AsArg().name});
    EpilogueStep bias;
    bias.kind = EpilogueStep::Kind::kBias;
    bias.operand = 0;
    desc.SetAttr("epilogue", Epilogue{{bias}});
    return desc;
  }

 private:
  // Of the result: axis 0 of a convolution's filter, axis 1 of a transposed one's counts those of a group.
  int64_t Channels(const DenseTensor& filter, const Node::Stmt& conv) const {
    return transposed_ ? filter.shape()[1] * conv.GetAttr<int>("groups") : filter.shape()[0];
  }

  const std::string op_;
  const bool transposed_;
  Node* filter_ = nullptr;  // of the match at hand
  Node* bias_ = nullptr;
};

class ConvBnFusePass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    for (const char* op : {"conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose"}) {
      ConvBnFuser fuser(op);
      int fused = 0;
      // One match at a time of two batch norms in a row.
      while (const int found = fuser(graph.get())) fused += found;
      if (fused > 0) Note(std::to_string(fused) + " batch_norm folded into " + op);
    }
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(conv_bn_fuse_pass, wherry::mir::ConvBnFusePass).BindTargets({TARGET(kAny)}).BindKernel("conv2d");
