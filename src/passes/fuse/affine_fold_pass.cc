// Scales and biases per channel in epilogues: (v * s0 + b0) * s1 + b1 is v * s + b. What stands before the first other
// step becomes one bias, its scale going into the weight: s (W x) + b = (s W) x + b. Each later run becomes at most one
// scale and one bias. Fewer steps have forms that kernels apply in registers.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "pass/pass_registry.h"
#include "pass/scaled_weight.h"
#include "pass/weight_in_memory.h"

namespace wherry::mir {
namespace {

// v * scale + bias, one of each per channel.
struct Affine {
  std::vector<double> scale;
  std::vector<double> bias;
  bool scales = false;
  bool shifts = false;
};

bool IsAffine(const EpilogueStep& step) {
  return step.kind == EpilogueStep::Kind::kScale || step.kind == EpilogueStep::Kind::kBias;
}

// Where the weight is, and along which of its axes the output's channels lie.
struct Weight {
  const char* param;
  int axis;
};

// Nothing where a scale cannot go into the weight.
std::optional<Weight> FoldableWeight(const SSAGraph& graph, const Node::Stmt& stmt) {
  const std::string op = stmt.op_type();
  const bool transposed_conv = op == "conv2d_transpose" || op == "conv3d_transpose";
  const bool conv = op == "conv2d" || op == "conv3d";
  const char* const param = conv || transposed_conv ? "filter" : op == "fc" ? "w" : "y";
  const DenseTensor* weight = graph.TryWeight(stmt.input(param));
  if (weight == nullptr || weight->dtype() != DataType::kFloat || weight->shape().rank() < 2) return std::nullopt;
  if (conv) return Weight{param, 0};
  // With groups, a channel is a pair of places on axes 0 and 1.
  if (transposed_conv && stmt.GetAttr<int>("groups") != 1) return std::nullopt;
  if (transposed_conv) return Weight{param, 1};
  const bool transposed = op == "fused_matmul" && stmt.GetAttr<bool>("transpose_y");
  return Weight{param, weight->shape().rank() - (transposed ? 2 : 1)};
}

// The steps [first, last) as one; nothing if an operand is no f32 weight.
std::optional<Affine> Combine(const SSAGraph& graph, const std::vector<EpilogueStep>& steps, const NodeList& operands,
                              size_t first, size_t last) {
  Affine result;
  for (size_t i = first; i < last; ++i) {
    const DenseTensor* weight = graph.TryWeight(operands[static_cast<size_t>(steps[i].operand)]);
    if (weight == nullptr || weight->dtype() != DataType::kFloat) return std::nullopt;
    const auto channels = static_cast<size_t>(weight->numel());
    result.scale.resize(channels, 1.0);
    result.bias.resize(channels, 0.0);
    const auto* data = weight->data<float>();
    const bool scales = steps[i].kind == EpilogueStep::Kind::kScale;
    (scales ? result.scales : result.shifts) = true;
    for (size_t c = 0; c < channels; ++c) {
      if (scales) result.scale[c] *= data[c];
      result.bias[c] = scales ? result.bias[c] * data[c] : result.bias[c] + data[c];
    }
  }
  return result;
}

DenseTensor PerChannel(const std::vector<double>& values) {
  DenseTensor tensor(HostAllocator(), TensorMeta{DataType::kFloat, Shape{static_cast<int64_t>(values.size())}});
  std::transform(values.begin(), values.end(), tensor.mutable_data<float>(),
                 [](double v) { return static_cast<float>(v); });
  return tensor;
}

// Whether every number of the weight times one of the factors stays in the range of f32.
bool StaysInRange(const DenseTensor& weight, const std::vector<double>& factors) {
  double largest = 0;
  for (const double factor : factors) largest = std::max(largest, std::abs(factor));  // a NaN changes nothing
  if (largest <= 1) return true;
  const DenseTensor read = InMemory(weight);
  const auto* const values = read.data<float>();
  return std::all_of(values, values + weight.numel(), [largest](float v) {
    return !std::isfinite(v) || std::isfinite(static_cast<float>(v * largest));
  });
}

// The weight times a number per channel of `axis`; nothing if that may leave the range of f32.
std::optional<DenseTensor> Scaled(const DenseTensor& weight, int axis, const std::vector<double>& scale) {
  if (!StaysInRange(weight, scale)) return std::nullopt;
  return ScaledWeight(weight, weight.shape().numel(axis + 1, weight.shape().rank()), scale);
}

class AffineFoldPass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    int folded = 0;
    for (Node* node : graph->StmtTopologicalOrder()) {
      if (node->AsStmt().HasAttr("epilogue") && Fold(graph.get(), node)) ++folded;
    }
    if (folded > 0) Note(std::to_string(folded) + " epilogues with fewer scales and biases");
  }

 private:
  static bool Fold(SSAGraph* graph, Node* node) {
    const std::vector<EpilogueStep> steps = node->AsStmt().GetAttr<Epilogue>("epilogue").steps;
    Epilogue epilogue;
    NodeList operands;
    const NodeList old_operands = node->AsStmt().input_list("operands");
    const auto append = [&](EpilogueStep step, Node* operand) {
      if (operand != nullptr) {
        step.operand = static_cast<int>(operands.size());
        operands.push_back(operand);
      }
      epilogue.steps.push_back(step);
    };
    bool changed = false;
    for (size_t i = 0; i < steps.size();) {
      size_t end = i;
      while (end < steps.size() && IsAffine(steps[end])) ++end;
      std::optional<Affine> affine;
      const bool leads = i == 0 && end > 0 && steps[0].kind == EpilogueStep::Kind::kScale;
      if (end > i + 1 || leads) affine = Combine(*graph, steps, old_operands, i, end);
      if (affine && i == 0 && affine->scales && FoldIntoWeight(graph, node, affine->scale)) affine->scales = false;
      const size_t left = affine ? static_cast<size_t>(affine->scales) + static_cast<size_t>(affine->shifts) : end - i;
      if (left < end - i) {
        // Named after the run's first operand.
        const std::string name = old_operands[static_cast<size_t>(steps[i].operand)]->AsArg().name;
        const auto weight = [&](EpilogueStep::Kind kind, const std::vector<double>& values) {
          append({kind, ActKind::kIdentity, 0, 0, -1}, graph->NewWeight(name, PerChannel(values)));
        };
        if (affine->scales) weight(EpilogueStep::Kind::kScale, affine->scale);
        if (affine->shifts) weight(EpilogueStep::Kind::kBias, affine->bias);
        changed = true;
        i = end;
        continue;
      }
      end = std::max(end, i + 1);
      for (; i < end; ++i) {
        append(steps[i], steps[i].operand < 0 ? nullptr : old_operands[static_cast<size_t>(steps[i].operand)]);
      }
    }
    if (!changed) return false;
    graph->SetInput(node, "operands", operands);
    graph->SetAttr(node, "epilogue", epilogue);
    return true;
  }

  static bool FoldIntoWeight(SSAGraph* graph, Node* node, const std::vector<double>& scale) {
    const std::optional<Weight> place = FoldableWeight(*graph, node->AsStmt());
    if (!place) return false;
    Node* old = node->AsStmt().input(place->param);
    std::optional<DenseTensor> scaled = Scaled(graph->WeightTensor(old), place->axis, scale);
    if (!scaled) return false;
    graph->SetInput(node, place->param, {graph->NewWeight(old->AsArg().name, std::move(*scaled))});
    return true;
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(affine_fold_pass, wherry::mir::AffineFoldPass).BindTargets({TARGET(kAny)});
