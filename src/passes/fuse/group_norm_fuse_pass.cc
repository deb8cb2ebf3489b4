// group_norm from what PyTorch's exporter writes for it: the groups of channels as the channels of an instance norm
// without parameters, the image's shape again, then a gain and a bias per channel. The reshapes would fix the layout.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/fuse_util.h"
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

// Whether the parameter is missing or a weight that has this value everywhere.
bool IsAll(const SSAGraph& graph, const Node* arg, float value) {
  if (arg == nullptr) return true;
  const DenseTensor* const weight = graph.TryWeight(arg);
  if (weight == nullptr || weight->dtype() != DataType::kFloat) return false;
  const float* const data = weight->data<float>();
  return std::all_of(data, data + weight->numel(), [value](float x) { return x == value; });
}

// Whether `arg` is a weight of one number for each channel of an image of these dimensions.
bool IsPerChannel(const Node* arg, const std::vector<Dim>& image) {
  if (!arg->AsArg().is_weight || arg->AsArg().type.dtype != DataType::kFloat) return false;
  std::vector<Dim> wanted(image.size() - 1, Dim(1));
  wanted[0] = image[1];
  const std::vector<Dim>& dims = Dims(arg);
  const bool with_batch = dims.size() == image.size() && dims[0] == Dim(1);
  return std::vector<Dim>(dims.begin() + (with_batch ? 1 : 0), dims.end()) == wanted;
}

class GroupNormFusePass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    int fused = 0;
    NodeList norms = graph->StmtTopologicalOrder();
    std::erase_if(norms, [](const Node* node) { return node->AsStmt().op_type() != "instance_norm"; });
    for (Node* norm : norms) fused += Fuse(graph.get(), norm) ? 1 : 0;
    if (fused > 0) Note(std::to_string(fused) + " group norms put together");
  }

 private:
  static bool Fuse(SSAGraph* graph, Node* norm) {
    const Node::Stmt& stmt = norm->AsStmt();
    const Node::Stmt* const split = ProducerOf(stmt.input("x"), "reshape");
    if (split == nullptr || !HasRank(stmt.input("x"), 3) || !HasOneUse(*graph, stmt.output())) return false;
    Node* const x = split->input("x");
    Node* const join = stmt.output()->outlinks()[0];
    if (join->AsStmt().op_type() != "reshape" || !x->AsArg().type.rank_known || x->AsArg().type.rank() < 3)
      return false;
    const std::vector<Dim> dims = Dims(x);
    Node* value = join->AsStmt().output();
    if (!value->AsArg().type.rank_known || Dims(value) != dims || x->AsArg().type.dtype != DataType::kFloat)
      return false;
    const Dim groups = Dims(stmt.input("x"))[1];
    const bool divides = groups.known() && dims[1].known() && groups.value() > 0 && dims[1].value() > 0 &&
                         dims[1].value() % groups.value() == 0;
    if (!divides || Dims(stmt.input("x"))[0] != dims[0]) return false;
    if (!IsAll(*graph, stmt.input("scale"), 1.0F) || !IsAll(*graph, stmt.input("bias"), 0.0F)) return false;

    NodeList taken = {norm, join};
    Binding inputs = {{"x", {x}}};
    for (const auto& [op, parameter] : {std::pair("multiply", "scale"), std::pair("add", "bias")}) {
      Node* const next = HasOneUse(*graph, value) ? value->outlinks()[0] : nullptr;
      if (next == nullptr || next->AsStmt().op_type() != op) continue;
      Node* const other = next->AsStmt().input(next->AsStmt().input("x") == value ? "y" : "x");
      if (!IsPerChannel(other, dims)) continue;
      Node* const flat = graph->NewArg(other->AsArg().name);
      const AttributeMap channels = {{"shape", IntArray({dims[1].value()})}};
      InferStmt(graph, graph->NewStmt("reshape", {{"x", {other}}}, {{"out", {flat}}}, channels, norm));
      inputs[parameter] = {flat};
      taken.push_back(next);
      value = next->AsStmt().output();
    }
    const std::string before = stmt.input("x")->AsArg().name;
    const AttributeMap attrs = {{"epsilon", stmt.GetAttr<float>("epsilon")}, {"groups", groups.value()}};
    Node* const out = graph->NewArg(value->AsArg().name);
    Node* const fused = graph->NewStmt("group_norm", inputs, {{"out", {out}}}, attrs, norm);
    graph->SetLabel(fused, stmt.label());
    InferStmt(graph, fused);
    graph->ReplaceUses(value, out);
    for (auto node = taken.rbegin(); node != taken.rend(); ++node) graph->EraseStmt(*node);
    EraseUnused(graph, {before});
    return true;
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(group_norm_fuse_pass, wherry::mir::GroupNormFusePass)
    .BindTargets({TARGET(kAny)})
    .BindKernel("group_norm");
