// Marks values that may share memory: views and pieces of an argument, arguments of concat that are written straight
// into its result, and results that the schema allows to overwrite an argument. The runtime honours a mark where the
// shapes of the run allow it.
//
// What may be read is never overwritten, whatever the order of the statements: an argument is overwritten by its only
// reader, and only if each value that shares its memory is read by nothing but what led to it. A reader that takes it
// twice overwrites it only if it is elementwise: others read what they have written.
#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "op/memory_piece.h"
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

bool HasBytes(const Node* arg) { return arg->AsArg().type.rank_known && SizeOf(arg->AsArg().type.dtype) > 0; }

class InplacePass : public StmtPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    graph->ClearAliases();
    graph_ = graph.get();
    exclusive_.clear();
    int overwritten = 0;
    int views = 0;
    int pieces = 0;
    for (Node* stmt : graph->StmtTopologicalOrder()) {
      const OpSchema& schema = stmt->AsStmt().schema();
      if (TakesPieces(schema)) {
        pieces += WriteIntoResult(stmt);
      } else if (Views(schema)) {
        views += ViewArgument(stmt);
      } else {
        overwritten += Overwrite(stmt);
      }
      for (const Node* result : stmt->outlinks()) exclusive_[result] = SharesAlone(stmt, result);
    }
    if (overwritten > 0) Note(std::to_string(overwritten) + " results are written over their argument");
    if (views > 0) Note(std::to_string(views) + " results are views of their argument");
    if (pieces > 0) Note(std::to_string(pieces) + " values are written straight into a concat's result");
  }

 private:
  // What other graphs, the caller or a file own is not written to.
  static bool IsOurs(const Node* value) { return value->producer() != nullptr && HasBytes(value); }

  // Nothing but `stmt` reads the value, nor any other value in its memory that `stmt` did not lead to.
  bool ReadBy(const Node* value, const Node* stmt) const {
    return IsOurs(value) && !graph_->IsOutput(value) && value->outlinks().size() == 1 && value->outlinks()[0] == stmt &&
           exclusive_.at(value);
  }

  static int64_t TimesTaken(const Node* stmt, const Node* value) {
    int64_t times = 0;
    for (const auto& [param, args] : stmt->AsStmt().inputs()) times += std::count(args.begin(), args.end(), value);
    return times;
  }

  // Of a statement's result: whether it shares memory only with arguments that nothing else reads.
  bool SharesAlone(const Node* stmt, const Node* result) const {
    for (const Node* arg : stmt->inlinks()) {
      const bool shared = graph_->Alias(result) == arg || graph_->Alias(arg) == result;
      if (shared && !ReadBy(arg, stmt)) return false;
    }
    return true;
  }

  int Overwrite(Node* stmt) {
    const OpSchema& schema = stmt->AsStmt().schema();
    for (const ArgOutputPair& pair : schema.inplace) {
      Node* arg = stmt->AsStmt().input(schema.args[static_cast<size_t>(pair.arg)].name);
      Node* result = stmt->AsStmt().output(schema.outputs[static_cast<size_t>(pair.output)].name);
      if (arg == nullptr || result == nullptr || !ReadBy(arg, stmt)) continue;
      if (!schema.Has(kTraitBinary) && TimesTaken(stmt, arg) > 1) continue;
      const MetaTensor& from = arg->AsArg().type;
      const MetaTensor& to = result->AsArg().type;
      if (!to.rank_known || from.dtype != to.dtype || from.dims != to.dims || from.layout != to.layout) continue;
      graph_->SetAlias(result, arg);
      return 1;
    }
    return 0;
  }

  int ViewArgument(Node* stmt) {
    const OpSchema& schema = stmt->AsStmt().schema();
    Node* x = stmt->AsStmt().input("x");
    // What the caller owns may be read where it lies.
    const bool input = x != nullptr && graph_->IsInput(x) && HasBytes(x);
    if (x == nullptr || (!input && !IsOurs(x))) return 0;
    const NodeList& results = stmt->AsStmt().outputs().at(schema.outputs[0].name);
    const std::vector<BoundArg> bound = BindArgs(stmt->AsStmt());
    std::vector<const MetaTensor*> types;
    for (const Node* result : results) types.push_back(&result->AsArg().type);
    int marked = 0;
    for (size_t i = 0; i < results.size(); ++i) {
      const std::string_view op = schema.name;
      const bool whole = schema.Has(kTraitView) || op == "transpose" || op == "layout";
      // A user who holds a piece would hold the whole.
      const bool alone = whole && !input && !graph_->IsOutput(x);
      if (!HasBytes(results[i]) || (graph_->IsOutput(results[i]) && !alone)) continue;
      const bool view = schema.Has(kTraitView) ? IsPlainView(x->AsArg().type, *types[i])
                                               : PieceOfArgument(schema, bound, types, i).possible;
      if (!view) continue;
      graph_->SetAlias(results[i], x);
      ++marked;
    }
    return marked;
  }

  static bool IsPlainView(const MetaTensor& from, const MetaTensor& to) {
    return from.dtype == to.dtype && from.layout == DataLayout::kNCHW && to.layout == DataLayout::kNCHW;
  }

  int WriteIntoResult(Node* stmt) {
    Node* result = stmt->AsStmt().output();
    const std::vector<BoundArg> bound = BindArgs(stmt->AsStmt());
    const NodeList& parts = stmt->AsStmt().input_list("x");
    int marked = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      Node* part = parts[i];
      if (!IsOurs(part) || graph_->IsOutput(part) || !HasBytes(result)) continue;
      const bool placed = graph_->Alias(part) != nullptr;
      if (placed && !MayMove(part)) continue;
      if (!PieceOfResult(bound, result->AsArg().type, stmt->AsStmt().GetAttr<int64_t>("axis"), i).possible) continue;
      graph_->SetAlias(part, result);
      if (placed) exclusive_[part] = true;
      ++marked;
    }
    return marked;
  }

  // A result that is written over its argument may just as well be written elsewhere. A view may not, and what lies in
  // another concat's result stays there.
  bool MayMove(const Node* value) const {
    const Node* maker = value->producer();
    const OpSchema& schema = maker->AsStmt().schema();
    const NodeList& args = maker->inlinks();
    return !Views(schema) && std::find(args.begin(), args.end(), graph_->Alias(value)) != args.end();
  }

  SSAGraph* graph_ = nullptr;
  // By result: whether overwriting it harms no reader of the values in whose memory it lies, or that lie in its.
  std::unordered_map<const Node*, bool> exclusive_;
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(inplace_pass, wherry::mir::InplacePass).BindTargets({TARGET(kAny)});
