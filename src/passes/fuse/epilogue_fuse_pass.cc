// What follows a convolution, a matrix product or fc and can be done on its result while that is still in registers
// goes into its epilogue: scale and bias per channel, one more operand of the result's shape, activations. One table
// for all of them.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "ir/fuse_util.h"
#include "op/infer/infer_util.h"
#include "pass/act_step.h"
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

class EpilogueFusePass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    NodeList bases = graph->StmtTopologicalOrder();
    std::erase_if(bases, [](const Node* stmt) {
      return !stmt->AsStmt().HasAttr("epilogue") && stmt->AsStmt().op_type() != "matmul";
    });
    for (Node* base : bases) {  // what is fused and erased is never itself a base
      const std::string op = base->AsStmt().op_type();
      int fused = 0;
      while (Node* longer = FuseNext(graph.get(), base)) {
        base = longer;
        ++fused;
      }
      if (fused > 0) {
        Note(StrCat(op, " ", base->AsStmt().output()->AsArg().name, ": epilogue ",
                    ToString(base->AsStmt().GetAttr<Epilogue>("epilogue"))));
      }
    }
  }

 private:
  struct AddedStep {
    EpilogueStep step;
    Node* operand = nullptr;
  };

  // The statement after which nothing is left of the old one, or null when what follows does not fit.
  static Node* FuseNext(SSAGraph* graph, Node* base) {
    const Node::Stmt& stmt = base->AsStmt();
    Node* value = stmt.output();
    if (!HasOneUse(*graph, value)) return nullptr;
    if (value->AsArg().type.dtype != DataType::kFloat || !value->AsArg().type.rank_known) return nullptr;
    const bool plain_matmul = stmt.op_type() == "matmul";
    Epilogue epilogue = plain_matmul ? Epilogue() : stmt.GetAttr<Epilogue>("epilogue");
    // Asked before weights are made for steps.
    const size_t room = Epilogue::kMaxSteps - std::min<size_t>(epilogue.steps.size(), Epilogue::kMaxSteps);
    if (room == 0) return nullptr;
    Node* next = value->outlinks()[0];
    std::vector<AddedStep> added;
    if (next->AsStmt().op_type() == "scale") {
      added = StepsOfScale(graph, stmt, value, next->AsStmt(), room);
    } else if (const std::optional<ActStep> activation = ActivationOf(next->AsStmt())) {
      if (next->AsStmt().input("x") != value) return nullptr;
      added.push_back({EpilogueStep{EpilogueStep::Kind::kAct, activation->kind, activation->a, activation->b, -1}});
    } else if (next->AsStmt().op_type() == "batch_norm") {
      if (room >= 2) added = StepsOfBatchNorm(graph, stmt, value, next->AsStmt());
    } else {
      Node* operand = nullptr;
      const auto step = StepWithOperand(graph, stmt, value, next->AsStmt(), &operand);
      if (step) added.push_back({*step, operand});
    }
    if (added.empty()) return nullptr;
    Binding inputs = stmt.inputs();
    for (auto& [step, operand] : added) {
      if (operand != nullptr) {
        step.operand = static_cast<int>(inputs["operands"].size());
        inputs["operands"].push_back(operand);
      }
      epilogue.steps.push_back(step);
    }
    return Replace(graph, base, next, inputs, std::move(epilogue));
  }

  static Node* Replace(SSAGraph* graph, Node* base, Node* next, const Binding& inputs, Epilogue epilogue) {
    AttributeMap attrs = base->AsStmt().attrs();
    attrs["epilogue"] = std::move(epilogue);
    const std::string op = base->AsStmt().op_type() == "matmul" ? "fused_matmul" : base->AsStmt().op_type();
    OpDesc desc(op);
    for (const auto& [param, nodes] : inputs) {
      std::vector<std::string> names;
      for (const Node* node : nodes) names.push_back(node->AsArg().name);
      desc.SetInput(param, names);
    }
    for (auto& [name, value] : attrs) desc.SetAttribute(name, std::move(value));
    desc.SetOutput("out", {next->AsStmt().output()->AsArg().name});
    desc.SetLabel(base->AsStmt().label());
    Node* fused = graph->NewStmt(desc, next);  // where the later one stood: its operand is there by then
    graph->EraseStmt(next);
    graph->EraseStmt(base);
    return fused;
  }

  // add, subtract, multiply or divide of `value` and something that the epilogue can take as an operand.
  static std::optional<EpilogueStep> StepWithOperand(SSAGraph* graph, const Node::Stmt& base, const Node* value,
                                                     const Node::Stmt& next, Node** operand) {
    const std::string op = next.op_type();
    const bool scales = op == "multiply" || op == "divide";
    if (op != "add" && op != "subtract" && !scales) return std::nullopt;
    Node* x = next.input("x");
    Node* y = next.input("y");
    if (x == y || ((op == "subtract" || op == "divide") && x != value)) return std::nullopt;
    Node* other = x == value ? y : x;
    const MetaTensor& type = value->AsArg().type;
    const MetaTensor& other_type = other->AsArg().type;
    if (!other_type.rank_known || other_type.dtype != type.dtype) return std::nullopt;
    if (op == "add" && !other->AsArg().is_weight && other_type.dims == type.dims) {
      *operand = other;
      return EpilogueStep{EpilogueStep::Kind::kAdd, ActKind::kIdentity, 0, 0, -1};
    }
    const DenseTensor* weight = graph->TryWeight(other);
    if (weight == nullptr) return std::nullopt;
    const std::optional<std::vector<float>> row = PerChannel(base, type, *weight);
    if (!row) return std::nullopt;
    DenseTensor channel(HostAllocator(),
                        TensorMeta{DataType::kFloat, Shape{static_cast<int64_t>(row->size())}, DataLayout::kNCHW, 0});
    std::transform(row->begin(), row->end(), channel.mutable_data<float>(), [&op](float v) {
      return op == "subtract" ? -v : op == "divide" ? 1.0F / v : v;
    });
    *operand = graph->NewWeight(other->AsArg().name, std::move(channel));
    return EpilogueStep{scales ? EpilogueStep::Kind::kScale : EpilogueStep::Kind::kBias, ActKind::kIdentity, 0, 0, -1};
  }

  // x * scale + bias per channel, so that they fold into weights and other biases.
  static std::vector<AddedStep> StepsOfScale(SSAGraph* graph, const Node::Stmt& base, const Node* value,
                                             const Node::Stmt& next, size_t room) {
    const std::optional<ActStep> linear = ActivationOf(next);
    const std::optional<int64_t> channels = Channels(base, value->AsArg().type);
    if (!linear || !channels) return {};
    std::vector<AddedStep> steps;
    const auto append = [&](EpilogueStep::Kind kind, float number) {
      DenseTensor row(HostAllocator(), TensorMeta{DataType::kFloat, Shape{*channels}, DataLayout::kNCHW, 0});
      std::fill_n(row.mutable_data<float>(), *channels, number);
      steps.push_back({EpilogueStep{kind, ActKind::kIdentity, 0, 0, -1},
                       graph->NewWeight(value->AsArg().name + ".scale", std::move(row))});
    };
    const bool shifts = linear->b != 0;
    const bool scales = linear->a != 1 || !shifts;
    if (static_cast<size_t>(scales) + static_cast<size_t>(shifts) > room) return {};
    if (scales) append(EpilogueStep::Kind::kScale, linear->a);
    if (shifts) append(EpilogueStep::Kind::kBias, linear->b);
    return steps;
  }

  // A normalisation by known statistics is a scale and a bias: what conv_bn_fuse_pass leaves, because a bias or an
  // activation stands between.
  static std::vector<AddedStep> StepsOfBatchNorm(SSAGraph* graph, const Node::Stmt& base, const Node* value,
                                                 const Node::Stmt& norm) {
    const bool channels_are_axis_1 = EpilogueChannelAxis(base.op_type()) == 1 || value->AsArg().type.rank() == 2;
    if (norm.input("x") != value || !channels_are_axis_1) return {};
    const DenseTensor* mean = graph->TryWeight(norm.input("mean"));
    if (mean == nullptr) return {};
    const auto channels = static_cast<size_t>(mean->numel());
    bool known = true;
    const auto values = [&](const char* name, float fallback) {
      const Node* arg = norm.input(name);
      if (arg == nullptr) return std::vector<float>(channels, fallback);
      const DenseTensor* weight = graph->TryWeight(arg);
      known = known && weight != nullptr && weight->dtype() == DataType::kFloat &&
              weight->numel() == static_cast<int64_t>(channels);
      if (!known) return std::vector<float>();
      return std::vector<float>(weight->data<float>(), weight->data<float>() + channels);
    };
    const std::vector<float> means = values("mean", 0);
    const std::vector<float> variance = values("variance", 1);
    const std::vector<float> gamma = values("scale", 1);
    const std::vector<float> beta = values("bias", 0);
    if (!known) return {};
    const TensorMeta meta{DataType::kFloat, Shape{mean->numel()}, DataLayout::kNCHW, 0};
    DenseTensor scale(HostAllocator(), meta);
    DenseTensor bias(HostAllocator(), meta);
    for (size_t c = 0; c < channels; ++c) {
      const double factor = gamma[c] / std::sqrt(variance[c] + norm.GetAttr<double>("epsilon"));
      scale.mutable_data<float>()[c] = static_cast<float>(factor);
      bias.mutable_data<float>()[c] = static_cast<float>(beta[c] - means[c] * factor);
    }
    const std::string name = norm.input("mean")->AsArg().name;
    return {{EpilogueStep{EpilogueStep::Kind::kScale, ActKind::kIdentity, 0, 0, -1},
             graph->NewWeight(name + ".scale", std::move(scale))},
            {EpilogueStep{EpilogueStep::Kind::kBias, ActKind::kIdentity, 0, 0, -1},
             graph->NewWeight(name + ".bias", std::move(bias))}};
  }

  static int ChannelAxis(const Node::Stmt& base, const MetaTensor& result) {
    return EpilogueChannelAxis(base.op_type()) == 1 ? 1 : result.rank() - 1;
  }

  // How many channels the result has; nothing if that is not known or none.
  static std::optional<int64_t> Channels(const Node::Stmt& base, const MetaTensor& result) {
    const int axis = ChannelAxis(base, result);
    if (axis < 0 || axis >= result.rank()) return std::nullopt;
    const Dim& channels = result.dims[static_cast<size_t>(axis)];
    if (!channels.known() || channels.value() == 0) return std::nullopt;
    return channels.value();
  }

  // The weight as one number per channel of the result (axis 1 of a convolution's, the last of a product's), if
  // broadcasting makes it so.
  static std::optional<std::vector<float>> PerChannel(const Node::Stmt& base, const MetaTensor& result,
                                                      const DenseTensor& weight) {
    const std::optional<int64_t> channels = Channels(base, result);
    if (!channels || weight.shape().rank() > result.rank()) return std::nullopt;
    const int axis = ChannelAxis(base, result);
    const int offset = result.rank() - weight.shape().rank();
    for (int d = 0; d < weight.shape().rank(); ++d) {
      const bool fits = weight.shape()[d] == 1 || (d + offset == axis && weight.shape()[d] == *channels);
      if (!fits) return std::nullopt;
    }
    const auto* data = weight.data<float>();
    if (weight.numel() == 1) return std::vector<float>(static_cast<size_t>(*channels), data[0]);
    return std::vector<float>(data, data + weight.numel());
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(epilogue_fuse_pass, wherry::mir::EpilogueFusePass).BindTargets({TARGET(kAny)});
