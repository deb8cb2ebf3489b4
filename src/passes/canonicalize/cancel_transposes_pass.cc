// A transpose undone by a later one, with nothing but operators between that do not ask where an element lies: they
// work on the values as they lay before, and both transposes go. What else the operators read must be transposed alike,
// or constant (a weight is transposed the other way, which is folded). What others read of the values between is
// transposed for them, if there are fewer transposes then.
#include <algorithm>
#include <string>
#include <vector>

#include "ir/fuse_util.h"
#include "pass/pass_registry.h"
#include "pass/rearrange.h"

namespace wherry::mir {
namespace {

// Operators between two transposes that are looked at; exporters write a handful.
constexpr size_t kMaxRegion = 64;

class CancelTransposesPass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    int cancelled = 0;
    for (Node* stmt : graph->StmtTopologicalOrder()) {
      if (stmt->AsStmt().op_type() == "transpose" && Cancel(graph.get(), stmt)) ++cancelled;
    }
    if (cancelled > 0) Note(std::to_string(cancelled) + " transposes cancelled across operators");
  }

 private:
  // The operators between the transposes.
  struct Region {
    std::vector<int64_t> perm;  // of the later transpose
    NodeList stmts;             // each behind those that it reads from
    NodeList before;            // results of earlier transposes
    size_t visited = 0;
  };

  static bool Cancel(SSAGraph* graph, Node* last) {
    Node* const value = last->AsStmt().input("x");
    Node* const result = last->AsStmt().output();
    if (!value->AsArg().type.rank_known || value->producer() == nullptr) return false;
    if (value->producer()->AsStmt().op_type() == "transpose") return false;  // a chain of two, which has its own pass
    Region region;
    region.perm = Permutation(last->AsStmt());
    if (!Collect(*graph, value, &region) || region.before.empty()) return false;
    const auto inside = [&](const Node* stmt) { return stmt == last || Contains(region.stmts, stmt); };
    const auto is_read_outside = [&](const Node* arg) {
      return graph->IsOutput(arg) || !std::all_of(arg->outlinks().begin(), arg->outlinks().end(), inside);
    };
    NodeList wanted;
    for (Node* stmt : region.stmts) {
      if (is_read_outside(stmt->AsStmt().output())) wanted.push_back(stmt->AsStmt().output());
    }
    const auto kept = std::count_if(region.before.begin(), region.before.end(), is_read_outside);
    if (wanted.size() + static_cast<size_t>(kept) > region.before.size()) return false;
    for (Node* stmt : region.stmts) Untranspose(graph, stmt, region.perm);
    for (Node* arg : wanted) TransposeForOthers(graph, arg, region.perm, inside);
    graph->ReplaceUses(result, value);
    graph->EraseStmt(last);
    return true;
  }

  // Whether `arg` can be had as it lies before the transposes.
  static bool Collect(const SSAGraph& graph, Node* arg, Region* region) {
    if (IsUndone(arg, region->perm)) {
      if (!Contains(region->before, arg)) region->before.push_back(arg);
      return true;
    }
    if (arg->AsArg().is_weight) return arg->AsArg().type.rank() <= static_cast<int>(region->perm.size());
    Node* const stmt = arg->producer();
    if (stmt == nullptr || !HasNoPlaces(graph, stmt->AsStmt())) return false;
    // Broadcasting adds dimensions in front: only what has them all is transposed alike.
    if (!HasRank(arg, static_cast<int>(region->perm.size()))) return false;
    if (Contains(region->stmts, stmt)) return true;
    if (region->visited++ == kMaxRegion) return false;
    for (const auto& [param, args] : stmt->AsStmt().inputs()) {
      if (IsAside(param)) continue;
      if (param != "x" && param != "y") return false;
      // What is joined does not broadcast.
      const bool joins = stmt->AsStmt().op_type() == "concat";
      if (joins &&
          !std::all_of(args.begin(), args.end(), [arg](Node* x) { return HasRank(x, arg->AsArg().type.rank()); }))
        return false;
      if (!std::all_of(args.begin(), args.end(), [&](Node* input) { return Collect(graph, input, region); })) {
        return false;
      }
    }
    region->stmts.push_back(stmt);
    return true;
  }

  // Whether the operator does with each element the same, or knows its axes by an attribute that is changed with them.
  static bool HasNoPlaces(const SSAGraph& graph, const Node::Stmt& stmt) {
    if (stmt.outputs().size() != 1) return false;
    if (stmt.op_type() == "quantize_linear" || stmt.op_type() == "dequantize_linear") {
      const DenseTensor* const scale = graph.TryWeight(stmt.input("scale"));
      return scale != nullptr && scale->numel() == 1 && scale->shape().rank() <= 1;
    }
    return stmt.schema().Has(kTraitUnary) || stmt.schema().Has(kTraitBinary) || stmt.op_type() == "concat";
  }

  // Parameters of operators on integers that serve every element.
  static bool IsAside(const std::string& param) {
    return param == "scale" || param == "zero_point" || param == "table";
  }

  // Makes the statement work on what lies as before the transposes, as its inputs do that others of the region make.
  static void Untranspose(SSAGraph* graph, Node* stmt, const std::vector<int64_t>& perm) {
    const Binding inputs = stmt->AsStmt().inputs();
    std::vector<std::string> unused;
    for (const auto& [param, args] : inputs) {
      if (IsAside(param)) continue;
      NodeList untransposed = args;
      for (Node*& arg : untransposed) {
        if (IsUndone(arg, perm)) {
          unused.push_back(arg->AsArg().name);
          arg = arg->producer()->AsStmt().input("x");
        } else if (arg->AsArg().is_weight && graph->WeightTensor(arg).numel() != 1) {
          arg = Transposed(graph, arg, perm, stmt);
        }
      }
      if (untransposed != args) graph->SetInput(stmt, param, untransposed);
    }
    EraseUnused(graph, unused);
    if (stmt->AsStmt().op_type() == "concat") {
      const auto rank = static_cast<int64_t>(perm.size());
      const int64_t axis = (stmt->AsStmt().GetAttr<int>("axis") + rank) % rank;
      const auto place = std::find(perm.begin(), perm.end(), axis) - perm.begin();
      graph->SetAttr(stmt, "axis", int64_t{place});
    }
    InferStmt(graph, stmt);
  }

  // Gives readers that are not `inside`, and the graph's outputs, the value as it lay.
  template <typename Inside>
  static void TransposeForOthers(SSAGraph* graph, Node* arg, const std::vector<int64_t>& perm, const Inside& inside) {
    std::vector<int64_t> back(perm.size());
    for (size_t i = 0; i < perm.size(); ++i) back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
    const NodeList readers = arg->outlinks();
    Node* const as_before = graph->NewArg(arg->AsArg().name);
    graph->ReplaceUses(arg, as_before);
    for (Node* reader : readers) {
      if (inside(reader)) graph->ReplaceInput(reader, as_before, arg);
    }
    InferStmt(graph,
              graph->NewStmt("transpose", {{"x", {arg}}}, {{"out", {as_before}}}, {{"perm", back}}, arg->producer()));
  }

  static bool Contains(const NodeList& nodes, const Node* node) {
    return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
  }

  static bool IsUndone(const Node* arg, const std::vector<int64_t>& perm) {
    const Node* const before = arg->producer();
    if (before == nullptr || before->AsStmt().op_type() != "transpose" || !arg->AsArg().type.rank_known) return false;
    const std::vector<int64_t> first = Permutation(before->AsStmt());
    if (first.size() != perm.size()) return false;
    for (size_t i = 0; i < perm.size(); ++i) {
      if (first[static_cast<size_t>(perm[i])] != static_cast<int64_t>(i)) return false;
    }
    return true;
  }

  static Node* Transposed(SSAGraph* graph, Node* weight, const std::vector<int64_t>& perm, const Node* near) {
    const Shape& shape = graph->WeightTensor(weight).shape();
    std::vector<int64_t> dims(perm.size() - static_cast<size_t>(shape.rank()), 1);
    for (int i = 0; i < shape.rank(); ++i) dims.push_back(shape[i]);
    const std::string& name = weight->AsArg().name;
    Node* const ranked = graph->NewArg(name);
    InferStmt(graph, graph->NewStmt("reshape", {{"x", {weight}}}, {{"out", {ranked}}},
                                    {{"shape", IntArray(dims)}, {"allow_zero", true}}, near));
    Node* const result = graph->NewArg(name);
    InferStmt(graph, graph->NewStmt("transpose", {{"x", {ranked}}}, {{"out", {result}}}, {{"perm", perm}}, near));
    return result;
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(cancel_transposes_pass, wherry::mir::CancelTransposesPass);
