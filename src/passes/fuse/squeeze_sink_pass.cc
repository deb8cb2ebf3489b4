// A convolution along one axis runs on images of one row: unsqueeze, conv2d, squeeze. What follows elementwise goes
// before the squeeze, to where the fusions with the convolution look for it; a squeeze that then meets the unsqueeze of
// the next convolution goes with it.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "ir/fuse_util.h"
#include "pass/act_step.h"
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

// The one axis that a squeeze or unsqueeze takes or adds, in the longer shape of this rank.
std::optional<int64_t> OneAxis(const Node::Stmt& stmt, int rank) {
  if (!stmt.HasAttr("axis")) return std::nullopt;
  const auto& axes = stmt.GetAttr<IntArray>("axis");
  if (axes.size() != 1) return std::nullopt;
  return axes[0] < 0 ? axes[0] + rank : axes[0];
}

// The axis of pixels, of 1 element, that the squeeze takes.
std::optional<int64_t> SqueezedPixels(const Node::Stmt& squeeze) {
  const MetaTensor& x = squeeze.input("x")->AsArg().type;
  if (!x.rank_known) return std::nullopt;
  const std::optional<int64_t> axis = OneAxis(squeeze, x.rank());
  if (!axis || *axis < 2 || *axis >= x.rank() || x.dims[static_cast<size_t>(*axis)] != Dim(1)) return std::nullopt;
  return axis;
}

bool IsConvolution(const std::string& op) {
  return op == "conv2d" || op == "conv2d_transpose" || op == "conv3d" || op == "conv3d_transpose";
}

class SqueezeSinkPass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    NodeList ends = graph->StmtTopologicalOrder();  // none of these is erased before the walk comes to it
    std::erase_if(ends, [](const Node* stmt) {
      return !IsConvolution(stmt->AsStmt().op_type()) && stmt->AsStmt().op_type() != "unsqueeze";
    });
    int sunk = 0;
    int met = 0;
    for (Node* stmt : ends) {
      if (stmt->AsStmt().op_type() == "unsqueeze") {
        met += Meets(graph.get(), stmt) ? 1 : 0;
        continue;
      }
      Node* value = stmt->outlinks()[0];
      while (HasOneUse(*graph, value)) {
        Node* next = value->outlinks()[0];
        if (Follows(*graph, next, value)) {
          value = next->outlinks()[0];
          continue;
        }
        Node* result = SinkPastNext(graph.get(), value, next);
        if (result == nullptr) break;
        value = result;
        ++sunk;
      }
    }
    if (sunk + met > 0) {
      Note(StrCat(sunk, " operators moved before a squeeze, ", met, " squeezes undone by an unsqueeze"));
    }
  }

 private:
  // wide -> squeeze -> next becomes wide -> next -> squeeze; the result of `next` now, or null.
  static Node* SinkPastNext(SSAGraph* graph, Node* wide, Node* squeeze) {
    if (squeeze->AsStmt().op_type() != "squeeze") return nullptr;
    const std::optional<int64_t> axis = SqueezedPixels(squeeze->AsStmt());
    Node* narrow = squeeze->outlinks()[0];
    if (!axis || !HasOneUse(*graph, narrow)) return nullptr;
    Node* next = narrow->outlinks()[0];
    if (!Follows(*graph, next, narrow)) return nullptr;
    Node* result = next->outlinks()[0];
    OpDesc moved = next->AsStmt().desc();
    const bool first = next->AsStmt().input("x") == narrow;
    moved.SetInput(first ? "x" : "y", {wide->AsArg().name});
    if (Node* y = next->AsStmt().input("y")) {
      Node* other = Widened(graph, first ? y : next->AsStmt().input("x"), narrow, *axis, next);
      moved.SetInput(first ? "y" : "x", {other->AsArg().name});
    }
    Node* wide_result = graph->NewArg(result->AsArg().name + ".wide");
    moved.SetOutput("out", {wide_result->AsArg().name});
    InferStmt(graph, graph->NewStmt(moved, next));
    OpDesc after = squeeze->AsStmt().desc();
    after.SetInput("x", {wide_result->AsArg().name});
    after.SetOutput("out", {result->AsArg().name});
    graph->NewStmt(after, next);
    graph->EraseStmt(next);
    graph->EraseStmt(squeeze);
    return wide_result;
  }

  // Whether the statement works element by element on `value`, by channel at most, with a result of its shape.
  static bool Follows(const SSAGraph& graph, const Node* stmt, const Node* value) {
    const Node::Stmt& next = stmt->AsStmt();
    if (stmt->outlinks().size() != 1) return false;
    const MetaTensor& type = value->AsArg().type;
    const MetaTensor& result = stmt->outlinks()[0]->AsArg().type;
    if (!type.rank_known || !result.rank_known || type.dims != result.dims) return false;
    const std::string op = next.op_type();
    if (op == "batch_norm") return next.input("x") == value;
    if (ActivationOf(next)) return next.input("x") == value;
    if (op != "add" && op != "subtract" && op != "multiply" && op != "divide") return false;
    const Node* x = next.input("x");
    const Node* y = next.input("y");
    if (x == y) return false;
    const Node* other = x == value ? y : x;
    const MetaTensor& other_type = other->AsArg().type;
    return other_type.rank_known && (graph.TryWeight(other) != nullptr || other_type.dims == type.dims);
  }

  // The other operand of an operator on `narrow`, with the axis put back in.
  static Node* Widened(SSAGraph* graph, Node* operand, const Node* narrow, int64_t axis, const Node* near) {
    const int rank = narrow->AsArg().type.rank();
    if (const DenseTensor* weight = graph->TryWeight(operand)) {
      TensorMeta meta = weight->meta();
      const int64_t at = axis - (rank - meta.shape.rank());  // among the weight's axes, which are the last ones
      if (at <= 0) return operand;
      Shape shape;
      for (int d = 0; d < meta.shape.rank(); ++d) {
        if (d == at) shape.push_back(1);
        shape.push_back(meta.shape[d]);
      }
      if (at == meta.shape.rank()) shape.push_back(1);
      meta.shape = shape;
      return graph->NewWeight(operand->AsArg().name, DenseTensor(meta, weight->buffer(), weight->offset()));
    }
    Node* producer = operand->producer();
    if (producer != nullptr && producer->AsStmt().op_type() == "squeeze" &&
        SqueezedPixels(producer->AsStmt()) == axis) {
      return producer->AsStmt().input("x");
    }
    Node* wide = graph->NewArg(operand->AsArg().name + ".wide");
    InferStmt(graph,
              graph->NewStmt("unsqueeze", {{"x", {operand}}}, {{"out", {wide}}}, {{"axis", IntArray({axis})}}, near));
    return wide;
  }

  // unsqueeze(squeeze(x)) is x.
  static bool Meets(SSAGraph* graph, Node* unsqueeze) {
    Node* narrow = unsqueeze->AsStmt().input("x");
    Node* squeeze = narrow->producer();
    if (squeeze == nullptr || squeeze->AsStmt().op_type() != "squeeze" || !narrow->AsArg().type.rank_known)
      return false;
    const std::optional<int64_t> axis = SqueezedPixels(squeeze->AsStmt());
    if (!axis || OneAxis(unsqueeze->AsStmt(), narrow->AsArg().type.rank() + 1) != axis) return false;
    graph->ReplaceUses(unsqueeze->outlinks()[0], squeeze->AsStmt().input("x"));
    graph->EraseStmt(unsqueeze);
    EraseIfUnused(graph, narrow);
    return true;
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(squeeze_sink_pass, wherry::mir::SqueezeSinkPass).BindTargets({TARGET(kAny)});
