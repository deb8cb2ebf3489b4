// A transpose undone by a later one, with nothing but elementwise operators between: the operators work on the values
// as they lay before, and both transposes go. What else the operators read must be transposed alike, or constant (a
// weight is transposed the other way, which is folded).
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
    if (cancelled > 0) Note(std::to_string(cancelled) + " transposes cancelled across elementwise operators");
  }

 private:
  // The elementwise operators between the transposes, each before those that it reads from.
  struct Region {
    std::vector<int64_t> perm;  // of the later transpose
    NodeList stmts;
    size_t transposes = 0;
  };

  static bool Cancel(SSAGraph* graph, Node* last) {
    Node* const value = last->AsStmt().input("x");
    Node* const result = last->AsStmt().output();
    if (!value->AsArg().type.rank_known || value->producer() == nullptr) return false;
    if (value->producer()->AsStmt().op_type() == "transpose") return false;  // a chain of two, which has its own pass
    Region region;
    region.perm = Permutation(last->AsStmt());
    if (!Collect(*graph, value, &region) || region.transposes == 0) return false;
    for (auto it = region.stmts.rbegin(); it != region.stmts.rend(); ++it) {
      for (const char* const param : {"x", "y"}) {
        Node* const arg = (*it)->AsStmt().input(param);
        if (arg == nullptr) continue;
        if (IsUndone(arg, region.perm)) {
          graph->SetInput(*it, param, {arg->producer()->AsStmt().input("x")});
          EraseIfUnused(graph, arg);
        } else if (arg->AsArg().is_weight && graph->WeightTensor(arg).numel() != 1) {
          graph->SetInput(*it, param, {Transposed(graph, arg, region.perm, *it)});
        }
      }
      InferStmt(graph, *it);
    }
    graph->ReplaceUses(result, value);
    graph->EraseStmt(last);
    return true;
  }

  // Whether `arg` can be had as it lies before the transposes.
  static bool Collect(const SSAGraph& graph, Node* arg, Region* region) {
    if (IsUndone(arg, region->perm)) {
      ++region->transposes;
      return true;
    }
    if (arg->AsArg().is_weight) return arg->AsArg().type.rank() <= static_cast<int>(region->perm.size());
    Node* const stmt = arg->producer();
    if (stmt == nullptr || !HasOneUse(graph, arg)) return false;
    const OpSchema& schema = stmt->AsStmt().schema();
    const bool elementwise = schema.Has(kTraitUnary) || schema.Has(kTraitBinary);
    if (!elementwise || stmt->AsStmt().outputs().size() != 1 || region->stmts.size() == kMaxRegion) return false;
    // Broadcasting adds dimensions in front: only what has them all is transposed alike.
    if (!arg->AsArg().type.rank_known || arg->AsArg().type.rank() != static_cast<int>(region->perm.size()))
      return false;
    region->stmts.push_back(stmt);
    for (const auto& [param, args] : stmt->AsStmt().inputs()) {
      if ((param != "x" && param != "y") || args.size() != 1 || !Collect(graph, args[0], region)) return false;
    }
    return true;
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
