// A product of scaled matrices is a scaled product, and one of transposed matrices is read the other way round:
// matmul(a * x, transpose(b * y)) -> fused_matmul(x, y) with alpha = a * b and transpose_y, for numbers a and b that
// are multiplied in, divided by, or given by a scale operator.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/fuse_util.h"
#include "pass/pass_registry.h"
#include "pass/rearrange.h"

namespace wherry::mir {
namespace {

// What a statement takes when it is a transpose of the last two axes; else null.
Node* TransposedBy(const Node::Stmt& stmt) {
  if (stmt.op_type() != "transpose") return nullptr;
  Node* x = stmt.input("x");
  if (!x->AsArg().type.rank_known || x->AsArg().type.rank() < 2) return nullptr;
  std::vector<int64_t> perm = Permutation(stmt);
  std::swap(perm.back(), perm[perm.size() - 2]);
  return std::is_sorted(perm.begin(), perm.end()) ? x : nullptr;
}

class MatmulOperandFusePass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    NodeList products = graph->StmtTopologicalOrder();
    std::erase_if(products, [](const Node* node) {
      return node->AsStmt().op_type() != "matmul" && node->AsStmt().op_type() != "fused_matmul";
    });
    int fused = 0;
    for (Node* product : products) {
      // Again: a transpose that went may have been what else read a scaled value.
      while ((product = Fuse(graph.get(), product, &fused)) != nullptr) {
      }
    }
    if (fused > 0) Note(std::to_string(fused) + " scalings and transposes taken into products");
  }

 private:
  // The product in its place; null if there was nothing to take in.
  static Node* Fuse(SSAGraph* graph, Node* node, int* taken) {
    int fused = 0;
    std::vector<std::string> left;
    const bool plain = node->AsStmt().op_type() == "matmul";
    double alpha = plain ? 1.0 : node->AsStmt().GetAttr<float>("alpha");
    OpDesc desc = node->AsStmt().desc();
    for (const auto& [param, flag] : {std::pair("x", "transpose_x"), std::pair("y", "transpose_y")}) {
      Node* arg = node->AsStmt().input(param);
      const std::string before = arg->AsArg().name;
      const int so_far = fused;
      while (Node* producer = arg->producer()) {
        if (Node* other_way = TransposedBy(producer->AsStmt())) {
          desc.SetAttr(flag, !desc.GetAttr<bool>(flag));
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
      if (fused == so_far) continue;
      desc.SetInput(param, {arg->AsArg().name});
      left.push_back(before);
    }
    if (fused == 0) return nullptr;
    *taken += fused;
    const bool scaled = !plain || alpha != 1.0;
    desc.SetType(scaled ? "fused_matmul" : "matmul");
    if (scaled) desc.SetAttr("alpha", static_cast<float>(alpha));
    Node* const product = graph->NewStmt(desc, node);
    graph->EraseStmt(node);
    EraseUnused(graph, std::move(left));
    return product;
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(matmul_operand_fuse_pass, wherry::mir::MatmulOperandFusePass)
    .BindTargets({TARGET(kAny)})
    .BindKernel("fused_matmul");
