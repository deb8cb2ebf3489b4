// A batch_norm that no convolution took, with constant parameters, becomes one scale and one bias per channel, which
// epilogues and elementwise chains take: x * s + (bias - mean * s), s = scale / sqrt(variance + epsilon).
#include <cmath>
#include <vector>

#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

// Where the mean is this many deviations from 0, subtracting it after the product instead of before loses this many
// units in the last place, 4e-6 of the result.
constexpr double kMostDeviations = 64;

class DecomposeBatchNormPass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    if (graph->stmt_count("batch_norm") == 0) return;
    int decomposed = 0;
    for (Node* stmt : graph->StmtTopologicalOrder()) {
      if (stmt->AsStmt().op_type() == "batch_norm" && Decompose(graph.get(), stmt)) ++decomposed;
    }
    if (decomposed > 0) Note(std::to_string(decomposed) + " batch_norm became a scale and a bias");
  }

 private:
  static bool Decompose(SSAGraph* graph, Node* node) {
    const Node::Stmt& stmt = node->AsStmt();
    Node* const x = stmt.input("x");
    const MetaTensor& type = x->AsArg().type;
    if (type.dtype != DataType::kFloat || !type.rank_known || type.rank() < 2) return false;
    const DenseTensor* const mean = graph->TryWeight(stmt.input("mean"));
    if (mean == nullptr) return false;
    const int64_t channels = mean->numel();
    const auto values = [&](const char* param, double fallback, std::vector<double>* result) {
      const Node* const arg = stmt.input(param);
      result->assign(static_cast<size_t>(channels), fallback);
      if (arg == nullptr) return true;
      const DenseTensor* const weight = graph->TryWeight(arg);
      if (weight == nullptr || weight->dtype() != DataType::kFloat || weight->numel() != channels) return false;
      result->assign(weight->data<float>(), weight->data<float>() + channels);
      return true;
    };
    std::vector<double> means;
    std::vector<double> variance;
    std::vector<double> scale;
    std::vector<double> bias;
    if (!values("mean", 0, &means) || !values("variance", 1, &variance) || !values("scale", 1, &scale) ||
        !values("bias", 0, &bias)) {
      return false;
    }
    const auto epsilon = stmt.GetAttr<double>("epsilon");
    for (size_t c = 0; c < means.size(); ++c) {
      const double deviation = std::sqrt(variance[c] + epsilon);
      if (!(std::abs(means[c]) <= kMostDeviations * deviation)) return false;
      scale[c] /= deviation;
      bias[c] -= means[c] * scale[c];
      if (!std::isfinite(static_cast<float>(scale[c])) || !std::isfinite(static_cast<float>(bias[c]))) return false;
    }
    const std::string name = stmt.input("mean")->AsArg().name;
    Node* const product = graph->NewArg(stmt.output()->AsArg().name + ".scaled", type);
    OpDesc multiply("multiply");
    multiply.SetInput("x", {x->AsArg().name});
    multiply.SetInput("y", {graph->NewWeight(name + ".scale", PerChannel(scale, type.rank()))->AsArg().name});
    multiply.SetOutput("out", {product->AsArg().name});
    multiply.SetLabel(stmt.label());
    OpDesc add("add");
    add.SetInput("x", {product->AsArg().name});
    add.SetInput("y", {graph->NewWeight(name + ".bias", PerChannel(bias, type.rank()))->AsArg().name});
    add.SetOutput("out", {stmt.output()->AsArg().name});
    add.SetLabel(stmt.label());
    graph->NewStmt(multiply, node);
    graph->NewStmt(add, node);
    graph->EraseStmt(node);
    return true;
  }

  // [c, 1, ..., 1], as it is broadcast over axis 1 of `rank` axes.
  static DenseTensor PerChannel(const std::vector<double>& values, int rank) {
    Shape shape{static_cast<int64_t>(values.size())};
    for (int i = 2; i < rank; ++i) shape.push_back(1);
    DenseTensor tensor(HostAllocator(), TensorMeta{DataType::kFloat, shape});
    for (size_t c = 0; c < values.size(); ++c) tensor.mutable_data<float>()[c] = static_cast<float>(values[c]);
    return tensor;
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(decompose_batch_norm_pass, wherry::mir::DecomposeBatchNormPass).BindTargets({TARGET(kAny)});
