// Chains become one statement: a view of a view (reshape, squeeze, unsqueeze, flatten), a transpose of a transpose, a
// cast of a cast that lost nothing, and operators that change nothing the second time. A transpose that moves only
// dimensions of 1 is a reshape. An expand that broadcasting does anyway goes.
#include <algorithm>
#include <optional>
#include <string_view>

#include "ir/fuse_util.h"
#include "pass/pass_registry.h"
#include "pass/rearrange.h"

namespace wherry::mir {
namespace {

bool IsIdempotent(std::string_view op) {
  return op == "relu" || op == "abs" || op == "relu6" || op == "floor" || op == "ceil" || op == "round" || op == "sign";
}

// Bits of the integers, or of the significands, that a type holds exactly, and whether it has a sign; nothing for types
// whose casts say more than that (8-bit floats saturate or not).
struct Exactness {
  bool floating;
  bool is_signed;
  int digits;
  int exponent;
};
std::optional<Exactness> ExactnessOf(DataType type) {
  switch (type) {
    case DataType::kBool: return Exactness{false, false, 1, 0};
    case DataType::kUInt8: return Exactness{false, false, 8, 0};
    case DataType::kUInt16: return Exactness{false, false, 16, 0};
    case DataType::kUInt32: return Exactness{false, false, 32, 0};
    case DataType::kUInt64: return Exactness{false, false, 64, 0};
    case DataType::kInt8: return Exactness{false, true, 7, 0};
    case DataType::kInt16: return Exactness{false, true, 15, 0};
    case DataType::kInt32: return Exactness{false, true, 31, 0};
    case DataType::kInt64: return Exactness{false, true, 63, 0};
    case DataType::kFP16: return Exactness{true, true, 11, 5};
    case DataType::kBF16: return Exactness{true, true, 8, 8};
    case DataType::kFloat: return Exactness{true, true, 24, 8};
    case DataType::kFP64: return Exactness{true, true, 53, 11};
    default: return std::nullopt;
  }
}

// Whether `to` holds every value of `from`.
bool Holds(const Exactness& to, const Exactness& from) {
  if (from.floating) return to.floating && to.digits >= from.digits && to.exponent >= from.exponent;
  if (to.floating) return to.digits >= from.digits && (1 << (to.exponent - 1)) > from.digits;
  return to.digits >= from.digits && (to.is_signed || !from.is_signed);
}

// Whether a -> b -> c gives what a -> c does: nothing is lost on the way, and the second step converts as a direct cast
// would. Integers wrap where floats saturate, so from integer over float to integer only where nothing does either.
bool FirstCastIsMoot(DataType a, DataType b, DataType c) {
  const std::optional<Exactness> from = ExactnessOf(a);
  const std::optional<Exactness> middle = ExactnessOf(b);
  const std::optional<Exactness> to = ExactnessOf(c);
  if (!from || !middle || !to) return false;
  // Integers that wrap twice wrap as once; truth is told apart from zero either way.
  const bool integers = !from->floating && !middle->floating && !to->floating;
  if (integers && b != DataType::kBool && c != DataType::kBool &&
      middle->digits + (middle->is_signed ? 1 : 0) >= to->digits + (to->is_signed ? 1 : 0)) {
    return true;
  }
  if (!Holds(*middle, *from)) return false;
  const bool wraps = !from->floating && middle->floating && !to->floating && c != DataType::kBool;
  return !wraps || Holds(*to, *from);
}

class ShortenChainsPass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    int shortened = 0;
    for (Node* stmt : graph->StmtTopologicalOrder()) {
      while (Shorten(graph.get(), stmt) || DropExpand(graph.get(), stmt) || TransposeToReshape(graph.get(), stmt)) {
        ++shortened;
      }
    }
    if (shortened > 0) Note(std::to_string(shortened) + " chains shortened");
  }

 private:
  // The statement reads what the one before it read. Goes on from the front, so chains of any length become one.
  static bool Shorten(SSAGraph* graph, Node*& node) {
    const Node::Stmt& stmt = node->AsStmt();
    Node* const x = stmt.input("x");
    Node* const before = x == nullptr ? nullptr : x->producer();
    if (before == nullptr || stmt.input_list("x").size() != 1) return false;
    Node* const source = before->AsStmt().input("x");
    if (source == nullptr || before->AsStmt().input_list("x").size() != 1) return false;
    const std::string op = stmt.op_type();
    const std::string first = before->AsStmt().op_type();
    const MetaTensor& from = source->AsArg().type;
    if (op == "transpose" && first == "transpose") {
      if (!from.rank_known) return false;
      const std::vector<int64_t> outer = Permutation(stmt);
      const std::vector<int64_t> inner = Permutation(before->AsStmt());
      if (outer.size() != inner.size()) return false;
      std::vector<int64_t> both;
      for (int64_t axis : outer) both.push_back(inner.at(static_cast<size_t>(axis)));
      graph->SetAttr(node, "perm", both);
    } else if (op == "cast" && first == "cast") {
      if (!FirstCastIsMoot(from.dtype, x->AsArg().type.dtype, stmt.GetAttr<DataType>("dtype"))) return false;
    } else if (IsView(op) && IsView(first)) {
      const std::optional<std::vector<int64_t>> entries = Entries(from, stmt.output()->AsArg().type);
      if (!entries && op == "unsqueeze" && first == "unsqueeze") return JoinUnsqueezes(graph, before, node);
      if (!entries) return false;
      node = Reshape(graph, node, source, *entries);
      EraseIfUnused(graph, x);
      return true;
    } else if (!(IsIdempotent(op) && first == op)) {
      return false;
    }
    graph->SetInput(node, "x", {source});
    EraseIfUnused(graph, x);
    return true;
  }

  // Of several symbols that move, which no reshape can say: the places of both lots of new dimensions.
  static bool JoinUnsqueezes(SSAGraph* graph, Node* first, Node* second) {
    const auto places = [](const Node* node) -> std::optional<std::vector<bool>> {
      const MetaTensor& result = node->AsStmt().output()->AsArg().type;
      if (!node->AsStmt().HasAttr("axis") || !result.rank_known) return std::nullopt;
      std::vector<bool> fresh(result.dims.size(), false);
      for (int64_t axis : node->AsStmt().GetAttr<IntArray>("axis")) {
        fresh.at(static_cast<size_t>(axis < 0 ? axis + result.rank() : axis)) = true;
      }
      return fresh;
    };
    const auto inner = places(first);
    const auto outer = places(second);
    if (!inner || !outer) return false;
    std::vector<int64_t> axes;
    for (size_t i = 0, from = 0; i < outer->size(); ++i) {
      if ((*outer)[i] || (*inner).at(from++)) axes.push_back(static_cast<int64_t>(i));
    }
    Node* const between = second->AsStmt().input("x");
    graph->SetInput(second, "x", {first->AsStmt().input("x")});
    graph->SetAttr(second, "axis", IntArray(axes));
    EraseIfUnused(graph, between);
    return true;
  }

  // Unless a dimension is 0, which a reshape would copy.
  static std::optional<std::vector<int64_t>> Entries(const MetaTensor& from, const MetaTensor& to) {
    if (!from.rank_known || !to.rank_known) return std::nullopt;
    const bool empty = std::any_of(to.dims.begin(), to.dims.end(), [](const Dim& dim) { return dim == Dim(0); });
    return empty ? std::nullopt : ReshapeEntries(from.dims, to.dims);
  }

  static Node* Reshape(SSAGraph* graph, Node* node, Node* source, const std::vector<int64_t>& entries) {
    OpDesc desc("reshape");
    desc.SetInput("x", {source->AsArg().name});
    desc.SetOutput("out", {node->AsStmt().output()->AsArg().name});
    desc.SetAttribute("shape", IntArray(entries));
    desc.SetLabel(node->AsStmt().label());
    Node* const fresh = graph->NewStmt(desc, node);
    graph->EraseStmt(node);
    return fresh;
  }

  static bool TransposeToReshape(SSAGraph* graph, Node*& node) {
    if (node->AsStmt().op_type() != "transpose") return false;
    Node* const x = node->AsStmt().input("x");
    const MetaTensor& from = x->AsArg().type;
    if (!from.rank_known) return false;
    std::vector<int64_t> moved = Permutation(node->AsStmt());
    if (moved.size() != from.dims.size() || std::is_sorted(moved.begin(), moved.end())) return false;
    moved.erase(std::remove_if(moved.begin(), moved.end(),
                               [&](int64_t axis) { return from.dims[static_cast<size_t>(axis)] == Dim(1); }),
                moved.end());
    if (!std::is_sorted(moved.begin(), moved.end())) return false;
    const std::optional<std::vector<int64_t>> entries = Entries(from, node->AsStmt().output()->AsArg().type);
    if (!entries) return false;
    node = Reshape(graph, node, x, *entries);
    return true;
  }

  // A binary operator broadcasts: what an operand is expanded to before is of no consequence if the result has that
  // shape without.
  static bool DropExpand(SSAGraph* graph, Node* node) {
    if (!node->AsStmt().schema().Has(kTraitBinary)) return false;
    bool dropped = false;
    for (const char* const param : {"x", "y"}) {
      Node* const arg = node->AsStmt().input(param);
      Node* const other = node->AsStmt().input(*param == 'x' ? "y" : "x");
      Node* const before = arg == nullptr ? nullptr : arg->producer();
      if (before == nullptr || other == nullptr || arg == other || before->AsStmt().op_type() != "expand") continue;
      Node* const source = before->AsStmt().input("x");
      if (!BroadcastsTo(source->AsArg().type, other->AsArg().type, node->AsStmt().output()->AsArg().type)) continue;
      graph->SetInput(node, param, {source});
      EraseIfUnused(graph, arg);
      dropped = true;
    }
    return dropped;
  }

  static bool BroadcastsTo(const MetaTensor& a, const MetaTensor& b, const MetaTensor& out) {
    if (!a.rank_known || !b.rank_known || !out.rank_known || std::max(a.rank(), b.rank()) != out.rank()) return false;
    const auto dim = [&out](const MetaTensor& type, int i) {
      const int at = i - (out.rank() - type.rank());
      return at < 0 ? Dim(1) : type.dims[static_cast<size_t>(at)];
    };
    for (int i = 0; i < out.rank(); ++i) {
      const Dim& wanted = out.dims[static_cast<size_t>(i)];
      const Dim x = dim(a, i);
      const Dim y = dim(b, i);
      if (!((x == wanted && (y == wanted || y == Dim(1))) || (x == Dim(1) && y == wanted))) return false;
    }
    return true;
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(shorten_chains_pass, wherry::mir::ShortenChainsPass);
