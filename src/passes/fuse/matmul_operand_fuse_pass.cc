// A product of scaled matrices is a scaled product, and one of transposed matrices is read the other way round:
// matmul(a * x, transpose(b * y)) -> fused_matmul(x, y) with alpha = a * b and transpose_y, for numbers a and b that
// are multiplied in, divided by, or given by a scale operator.
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/fuse_util.h"
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

// What a statement takes when it is a transpose of the last two axes; else null.
Node* TransposedBy(const Node::Stmt& stmt) {
  if (stmt.op_type() != "transpose") return nullptr;
  const MetaTensor& type = stmt.output()->AsArg().type;
  if (!type.rank_known || type.rank() < 2) return nullptr;
  std::vector<int64_t> swapped(static_cast<size_t>(type.rank()));
  std::iota(swapped.begin(), swapped.end(), 0);
  std::swap(swapped.back(), swapped[swapped.size() - 2]);
  std::vector<int64_t> perm = stmt.GetAttr<std::vector<int64_t>>("perm");
  for (int64_t& axis : perm) axis += axis < 0 ? type.rank() : 0;
  const bool swaps = perm == swapped || (perm.empty() && type.rank() == 2);
  return swaps ? stmt.input("x") : nullptr;
}

class MatmulOperandFusePass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    NodeList products = graph->StmtTopologicalOrder();
    std::erase_if(products, [](const Node* node) {
      return node->AsStmt().op_type() != "matmul" && node->AsStmt().op_type() != "fused_matmul";
    });
    std::vector<std::string> left;
    int fused = 0;
    for (Node* product : products) fused += Fuse(graph.get(), product, &left);
    EraseUnused(graph.get(), std::move(left));
    if (fused > 0) Note(std::to_string(fused) + " scalings and transposes taken into products");
  }

 private:
  static int Fuse(SSAGraph* graph, Node* node, std::vector<std::string>* left) {
    int fused = 0;
    const bool plain = node->AsStmt().op_type() == "matmul";
    double alpha = plain ? 1.0 : node->AsStmt().GetAttr<float>("alpha");
    Binding inputs = node->AsStmt().inputs();
    AttributeMap attrs = node->AsStmt().attrs();
    for (const auto& [param, flag] : {std::pair("x", "transpose_x"), std::pair("y", "transpose_y")}) {
      Node*& arg = inputs[param][0];
      const std::string before = arg->AsArg().name;
      const int so_far = fused;
      while (Node* producer = arg->producer()) {
        if (Node* other_way = TransposedBy(producer->AsStmt())) {
          attrs[flag] = !AttributeCast<bool>(attrs.at(flag));
          arg = other_way;
          ++fused;
          continue;
        }
        const std::optional<Factor> factor = FactorOf(*graph, producer->AsStmt());
        // A scaled value that is used elsewhere is there anyway, and a factor that leaves the range of f32 stays.
        if (!factor || !HasOneUse(*graph, arg) || arg->AsArg().type.dtype != DataType::kFloat) break;
        const double product = alpha * factor->value;
        if (!std::isfinite(static_cast<float>(product)) || static_cast<float>(product) == 0) break;
        alpha = product;
        arg = factor->input;
        ++fused;
      }
      if (fused > so_far) left->push_back(before);
    }
    if (fused == 0) return 0;
    const bool scaled = !plain || alpha != 1.0;
    OpDesc desc(scaled ? "fused_matmul" : "matmul");
    for (const auto& [param, nodes] : inputs) {
      std::vector<std::string> names;
      for (const Node* arg : nodes) names.push_back(arg->AsArg().name);
      desc.SetInput(param, names);
    }
    if (scaled) attrs["alpha"] = static_cast<float>(alpha);
    for (auto& [name, value] : attrs) desc.SetAttribute(name, std::move(value));
    desc.SetOutput("out", {node->AsStmt().output()->AsArg().name});
    desc.SetLabel(node->AsStmt().label());
    graph->NewStmt(desc, node);
    graph->EraseStmt(node);
    return fused;
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(matmul_operand_fuse_pass, wherry::mir::MatmulOperandFusePass)
    .BindTargets({TARGET(kAny)})
    .BindKernel("fused_matmul");
