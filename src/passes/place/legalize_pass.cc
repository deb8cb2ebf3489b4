// Splits what no good kernel takes: where a statement's epilogue keeps the better kernels away, its last steps become
// statements of their own until one of those kernels accepts.
#include <algorithm>

#include "base/check.h"
#include "op/infer/infer_util.h"
#include "pass/act_step.h"
#include "pass/kernel_choice.h"
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

class LegalizePass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    for (Node* stmt : graph->StmtTopologicalOrder()) {
      const Node::Stmt& before = stmt->AsStmt();
      if (!before.HasAttr("epilogue") || before.GetAttr<Epilogue>("epilogue").steps.empty()) continue;
      const size_t keep = StepsToKeep(*graph, stmt);
      const size_t count = before.GetAttr<Epilogue>("epilogue").steps.size();
      if (keep == count) continue;
      Note(StrCat(before.op_type(), " ", before.output()->AsArg().name, ": ", count - keep,
                  " epilogue steps split off"));
      for (size_t left = count; left > keep; --left) SplitLast(graph.get(), stmt);
      Pick(graph.get(), stmt);
    }
  }

 private:
  // The longest prefix of the epilogue with which the cheapest kernel for none of it still runs; all, when that saves
  // nothing.
  size_t StepsToKeep(const SSAGraph& graph, const Node* stmt) const {
    const auto& whole = stmt->AsStmt().GetAttr<Epilogue>("epilogue");
    const double whole_us = Cost(graph, stmt, whole);
    const double bare_us = Cost(graph, stmt, Epilogue());
    size_t keep = whole.steps.size();
    // Each step of its own reads and writes the result once more; twice the bare kernel's time is more than that for
    // any product.
    if (whole_us > 2 * bare_us) {
      for (keep = whole.steps.size() - 1; keep > 0; --keep) {
        const Epilogue prefix{{whole.steps.begin(), whole.steps.begin() + static_cast<int64_t>(keep)}};
        if (Cost(graph, stmt, prefix) <= 2 * bare_us) break;
      }
    }
    return keep;
  }

  double Cost(const SSAGraph& graph, const Node* stmt, const Epilogue& epilogue) const {
    return CostWith(graph, stmt, context(), {{"epilogue", epilogue}});
  }

  void SplitLast(SSAGraph* graph, Node* stmt) const {
    Epilogue epilogue = stmt->AsStmt().GetAttr<Epilogue>("epilogue");
    const EpilogueStep step = epilogue.steps.back();
    epilogue.steps.pop_back();
    Node* result = stmt->AsStmt().output();
    Node* inner = graph->NewArg(result->AsArg().name + ".part", result->AsArg().type);
    OpDesc desc("relu");
    if (step.kind == EpilogueStep::Kind::kAct) {
      auto [op, attrs] = OpOf({step.act, step.a, step.b});
      desc.SetType(op);
      for (auto& [name, value] : attrs) desc.SetAttribute(name, std::move(value));
      desc.SetInput("x", {inner->AsArg().name});
    } else {
      desc.SetType(step.kind == EpilogueStep::Kind::kScale ? "multiply" : "add");
      desc.SetInput("x", {inner->AsArg().name});
      desc.SetInput("y", {Operand(graph, stmt, step)->AsArg().name});
    }
    desc.SetOutput("out", {result->AsArg().name});
    // The new statement takes the result over; the old one then gives the part.
    Node* split = graph->NewStmt(desc, stmt);
    RebindOutput(graph, stmt, inner, std::move(epilogue), step);
    Pick(graph, split);
  }

  // A channel operand as an elementwise op needs it: [c] -> [c, 1, 1] behind a convolution.
  Node* Operand(SSAGraph* graph, const Node* stmt, const EpilogueStep& step) const {
    Node* operand = stmt->AsStmt().input_list("operands").at(static_cast<size_t>(step.operand));
    if (step.kind == EpilogueStep::Kind::kAdd || EpilogueChannelAxis(stmt->AsStmt().op_type()) != 1) return operand;
    const int axes = stmt->AsStmt().op_type().substr(0, 6) == "conv3d" ? 3 : 2;
    if (const DenseTensor* weight = graph->TryWeight(operand)) {
      TensorMeta meta = weight->meta();
      meta.shape = Shape{weight->numel()};
      for (int i = 0; i < axes; ++i) meta.shape.push_back(1);
      return graph->NewWeight(operand->AsArg().name, DenseTensor(meta, weight->buffer(), weight->offset()));
    }
    Node* shaped = graph->NewArg(operand->AsArg().name + ".channels");
    std::vector<int64_t> shape(static_cast<size_t>(axes + 1), 1);
    shape[0] = -1;
    Pick(graph, graph->NewStmt("reshape", {{"x", {operand}}}, {{"out", {shaped}}}, {{"shape", IntArray(shape)}}, stmt));
    return shaped;
  }

  static void RebindOutput(SSAGraph* graph, Node* stmt, Node* result, Epilogue epilogue, const EpilogueStep& removed) {
    const bool needed = std::any_of(epilogue.steps.begin(), epilogue.steps.end(),
                                    [&](const EpilogueStep& step) { return step.operand == removed.operand; });
    if (removed.operand >= 0 && !needed) {
      NodeList operands = stmt->AsStmt().input_list("operands");
      operands.erase(operands.begin() + removed.operand);
      for (EpilogueStep& step : epilogue.steps) step.operand -= step.operand > removed.operand ? 1 : 0;
      graph->SetInput(stmt, "operands", std::move(operands));
    }
    graph->SetAttr(stmt, "epilogue", std::move(epilogue));
    graph->SetOutput(stmt, "out", {result});
  }

  void Pick(SSAGraph* graph, Node* stmt) const {
    InferStmt(graph, stmt);
    const KernelChoice choice = ChooseKernel(*graph, stmt, context());
    if (choice.kernel == nullptr) return;
    graph->SetPick(stmt, PickOf(choice));
    MetaTensor& type = stmt->AsStmt().output()->AsArg().type;
    type.layout = ResultLayout(*choice.kernel, stmt, type);
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(legalize_pass, wherry::mir::LegalizePass).BindTargets({TARGET(kAny)});
