// A product of scaled matrices is a scaled product: matmul(a * x, b * y) -> fused_matmul(x, y) with alpha = a * b, for
// numbers a and b that are multiplied in, divided by, or given by a scale operator. Attention scales its queries and
// keys before multiplying them.
#include <algorithm>
#include <cmath>
#include <optional>

#include "ir/fuse_util.h"
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

class MatmulScaleFusePass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    int fused = 0;
    for (Node* node : graph->StmtTopologicalOrder()) {
      const std::string op = node->AsStmt().op_type();
      if (op == "matmul" || op == "fused_matmul") fused += Fuse(graph.get(), node);
    }
    if (fused > 0) Note(std::to_string(fused) + " scalings taken into products");
  }

 private:
  static int Fuse(SSAGraph* graph, Node* node) {
    int fused = 0;
    const bool plain = node->AsStmt().op_type() == "matmul";
    double alpha = plain ? 1.0 : node->AsStmt().GetAttr<float>("alpha");
    Binding inputs = node->AsStmt().inputs();
    NodeList scalings;
    for (const char* param : {"x", "y"}) {
      Node* arg = inputs[param][0];
      Node* scaling = arg->producer();
      if (scaling == nullptr || !HasOneUse(*graph, arg)) continue;
      const MetaTensor& type = arg->AsArg().type;
      const std::optional<Factor> factor = FactorOf(*graph, scaling->AsStmt());
      // A factor that leaves the range of f32 stays.
      if (!factor || type.dtype != DataType::kFloat) continue;
      if (!std::isfinite(static_cast<float>(alpha * factor->value)) || alpha * factor->value == 0) continue;
      alpha *= factor->value;
      inputs[param] = {factor->input};
      if (std::find(scalings.begin(), scalings.end(), scaling) == scalings.end()) scalings.push_back(scaling);
      ++fused;
    }
    if (fused == 0) return 0;
    OpDesc desc("fused_matmul");
    for (const auto& [param, nodes] : inputs) {
      std::vector<std::string> names;
      for (const Node* arg : nodes) names.push_back(arg->AsArg().name);
      desc.SetInput(param, names);
    }
    AttributeMap attrs = node->AsStmt().attrs();
    attrs["alpha"] = static_cast<float>(alpha);
    for (auto& [name, value] : attrs) desc.SetAttribute(name, std::move(value));
    desc.SetOutput("out", {node->AsStmt().output()->AsArg().name});
    desc.SetLabel(node->AsStmt().label());
    graph->NewStmt(desc, node);
    graph->EraseStmt(node);
    for (Node* scaling : scalings) graph->EraseStmt(scaling);
    return fused;
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(matmul_scale_fuse_pass, wherry::mir::MatmulScaleFusePass)
    .BindTargets({TARGET(kAny)})
    .BindKernel("fused_matmul");
