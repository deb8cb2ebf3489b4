// batch_norm that no convolution took -> multiply and add of a number per channel:
//   bn(x) = x * s + (beta - mean * s),   s = gamma / sqrt(variance + epsilon)
// Epilogues and groups of elementwise operators take these; the operator itself divides by the root anew in every run.
#include <cmath>
#include <string>

#include "ir/fuse_util.h"
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

class BatchNormSplitPass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    int split = 0;
    for (Node* stmt : graph->StmtTopologicalOrder()) {
      if (stmt->AsStmt().op_type() != "batch_norm" || !IsConstant(*graph, stmt->AsStmt())) continue;
      Split(graph.get(), stmt);
      ++split;
    }
    if (split > 0) Note(std::to_string(split) + " batch_norm became a multiplication and an addition");
  }

 private:
  static bool IsConstant(const SSAGraph& graph, const Node::Stmt& bn) {
    const MetaTensor& x = bn.input("x")->AsArg().type;
    if (!x.rank_known || x.rank() < 2 || x.dtype != DataType::kFloat) return false;
    const DenseTensor* const mean = graph.TryWeight(bn.input("mean"));
    if (mean == nullptr || mean->numel() == 0) return false;
    for (const char* name : {"mean", "variance", "scale", "bias"}) {
      const Node* const arg = bn.input(name);
      if (arg == nullptr) continue;
      const DenseTensor* const weight = graph.TryWeight(arg);
      if (weight == nullptr || weight->dtype() != DataType::kFloat || weight->shape() != mean->shape()) return false;
    }
    return true;
  }

  static void Split(SSAGraph* graph, Node* stmt) {
    const Node::Stmt& bn = stmt->AsStmt();
    const auto values = [&](const char* name) -> const float* {
      return bn.input(name) == nullptr ? nullptr : graph->WeightTensor(bn.input(name)).data<float>();
    };
    const float* const mean = values("mean");
    const float* const variance = values("variance");
    const float* const gamma = values("scale");
    const float* const beta = values("bias");
    const int64_t channels = graph->WeightTensor(bn.input("mean")).numel();
    const auto epsilon = bn.GetAttr<double>("epsilon");
    Shape shape{channels};
    for (int axis = 2; axis < bn.input("x")->AsArg().type.rank(); ++axis) shape.push_back(1);
    DenseTensor scale(HostAllocator(), TensorMeta{DataType::kFloat, shape});
    DenseTensor shift(HostAllocator(), TensorMeta{DataType::kFloat, shape});
    for (int64_t c = 0; c < channels; ++c) {
      const double s = (gamma == nullptr ? 1.0 : gamma[c]) / std::sqrt(variance[c] + epsilon);
      scale.mutable_data<float>()[c] = static_cast<float>(s);
      shift.mutable_data<float>()[c] = static_cast<float>((beta == nullptr ? 0.0 : beta[c]) - mean[c] * s);
    }
    Node* const out = bn.output();
    const std::string& name = out->AsArg().name;
    Node* const scaled = graph->NewArg(name + ".scaled");
    InferStmt(graph,
              graph->NewStmt("multiply",
                             {{"x", {bn.input("x")}}, {"y", {graph->NewWeight(name + ".scale", std::move(scale))}}},
                             {{"out", {scaled}}}, {}, stmt));
    OpDesc add("add");
    add.SetInput("x", {scaled->AsArg().name});
    add.SetInput("y", {graph->NewWeight(name + ".shift", std::move(shift))->AsArg().name});
    add.SetOutput("out", {name});
    Node* const last = graph->NewStmt(add, stmt);
    graph->SetLabel(last, bn.label());
    graph->EraseStmt(stmt);
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(batch_norm_split_pass, wherry::mir::BatchNormSplitPass).BindTargets({TARGET(kAny)});
