// A mask by which query i sees the keys up to i + keys - queries becomes attention's attribute `causal`: the kernel
// passes over what is not seen, half of the work of a prompt. Such a mask is a constant, or compares positions:
//   where(key_position <= query_position, 0, -inf),   key_position = arange(keys), query_position = arange(queries) +
//   past
// The number for what is not seen may be finite when it is -1e9 or less, and each query sees a key.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/fuse_util.h"
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

constexpr double kHidden = -1e9;

// Integers that are the same along all axes but one, along which they are first, first + 1, ...
struct Positions {
  Dim first;
  int axis = -1;  // counted from the last, which is 0; -1: one number
};

// By which queries see keys: key + key_offset <= query + query_offset.
struct Sight {
  Dim key_offset;
  Dim query_offset;
};

bool IsViewOrCast(const std::string& op) {
  return op == "unsqueeze" || op == "reshape" || op == "squeeze" || op == "cast" || op == "flatten" || op == "assign";
}

// The one axis that is not of one element, counted from the last; -1: none, nothing: several.
std::optional<int> LongAxis(const Node* value) {
  if (!value->AsArg().type.rank_known) return std::nullopt;
  const std::vector<Dim>& dims = Dims(value);
  int axis = -1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == Dim(1)) continue;
    if (axis >= 0) return std::nullopt;
    axis = static_cast<int>(dims.size() - 1 - i);
  }
  return axis;
}

class CausalMaskFusePass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    int fused = 0;
    for (Node* stmt : graph->StmtTopologicalOrder()) {
      if (stmt->AsStmt().op_type() != "attention" || !IsCausal(*graph, stmt->AsStmt())) continue;
      const std::string mask = stmt->AsStmt().input("mask")->AsArg().name;
      graph->SetInput(stmt, "mask", {});
      graph->SetAttr(stmt, "causal", true);
      graph->SetAttr(stmt, "masked_score", -std::numeric_limits<double>::infinity());
      EraseUnused(graph.get(), {mask});
      ++fused;
    }
    if (fused > 0) Note(std::to_string(fused) + " masks are causal");
  }

 private:
  static bool IsCausal(const SSAGraph& graph, const Node::Stmt& attention) {
    const Node* const mask = attention.input("mask");
    if (mask == nullptr || attention.GetAttr<bool>("causal")) return false;
    const std::optional<Dim> queries = Sequence(attention.input("query"));
    const std::optional<Dim> keys = Sequence(attention.input("key"));
    const MetaTensor& type = mask->AsArg().type;
    if (!queries || !keys || !type.rank_known || type.rank() < 2) return false;
    const auto rank = static_cast<size_t>(type.rank());
    if (type.dims[rank - 2] != *queries || type.dims[rank - 1] != *keys) return false;
    if (!std::all_of(type.dims.begin(), type.dims.end() - 2, [](const Dim& dim) { return dim == Dim(1); }))
      return false;
    double hidden = attention.GetAttr<double>("masked_score");
    if (const DenseTensor* const constant = graph.TryWeight(mask)) {
      if (!IsTriangle(*constant, &hidden)) return false;
    } else {
      const std::optional<Sight> sight = SightOfMask(graph, mask, &hidden);
      if (!sight || sight->query_offset + *queries != sight->key_offset + *keys) return false;
    }
    if (hidden == -std::numeric_limits<double>::infinity()) return true;
    // A query that sees nothing would see all alike.
    const Dim more = *keys - *queries;
    return hidden <= kHidden && Max(more, Dim(0)) == more;
  }

  static std::optional<Dim> Sequence(const Node* operand) {
    const MetaTensor& type = operand->AsArg().type;
    if (!type.rank_known || type.rank() < 3) return std::nullopt;
    return type.dims[type.rank() == 4 ? 2 : 1];
  }

  // Zeros or true up to the diagonal that ends in the last corner, and one number or false beyond.
  static bool IsTriangle(const DenseTensor& mask, double* hidden) {
    if (mask.numel() == 0 || (mask.dtype() != DataType::kFloat && mask.dtype() != DataType::kBool)) return false;
    const int64_t keys = mask.shape().back();
    const int64_t queries = mask.numel() / keys;
    const bool flags = mask.dtype() == DataType::kBool;
    bool first = true;
    for (int64_t i = 0; i < queries; ++i) {
      for (int64_t j = 0; j < keys; ++j) {
        const bool seen = j <= i + keys - queries;
        const int64_t at = i * keys + j;
        if (flags) {
          if (mask.data<bool>()[at] != seen) return false;
          continue;
        }
        const double value = mask.data<float>()[at];
        if (seen ? value != 0 : !first && value != *hidden) return false;
        if (!seen && first) *hidden = value;
        first = first && seen;
      }
    }
    return flags || !first;
  }

  static std::optional<Sight> SightOfMask(const SSAGraph& graph, const Node* mask, double* hidden) {
    const Node* const source = Source(mask);
    if (source->AsArg().type.dtype == DataType::kBool) return SightOf(source, true);
    const Node::Stmt* const where = ProducerOf(source, "where");
    if (where == nullptr) return std::nullopt;
    const std::optional<double> x = ConstantOf(graph, where->input("x"));
    const std::optional<double> y = ConstantOf(graph, where->input("y"));
    if (!x || !y || (*x != 0 && *y != 0)) return std::nullopt;
    *hidden = std::min(*x, *y);
    return SightOf(where->input("condition"), *x == 0 && *y != 0);
  }

  // What a value of two long axes is under views, expansions of axes of one element excepted.
  static const Node* Source(const Node* value) {
    while (value->producer() != nullptr && IsViewOrCast(value->producer()->AsStmt().op_type())) {
      const Node* const x = value->producer()->AsStmt().input("x");
      const MetaTensor& from = x->AsArg().type;
      const MetaTensor& to = value->AsArg().type;
      if (from.dtype != to.dtype || !from.rank_known || !to.rank_known || from.rank() < 2 || to.rank() < 2) break;
      if (!std::equal(from.dims.end() - 2, from.dims.end(), to.dims.end() - 2)) break;
      value = x;
    }
    return value;
  }

  // `seen`: whether the flags are true where a query sees a key.
  static std::optional<Sight> SightOf(const Node* flags, bool seen) {
    flags = Source(flags);
    if (flags->producer() == nullptr) return std::nullopt;
    const Node::Stmt& stmt = flags->producer()->AsStmt();
    const std::string op = stmt.op_type();
    if (op == "logical_not") return SightOf(stmt.input("x"), !seen);
    const bool less = op == "less_than" || op == "less_equal";
    if (!less && op != "greater_than" && op != "greater_equal") return std::nullopt;
    std::optional<Positions> low = PositionsOf(stmt.input(less ? "x" : "y"));
    std::optional<Positions> high = PositionsOf(stmt.input(less ? "y" : "x"));
    if (!low || !high) return std::nullopt;
    if (op == "less_than" || op == "greater_than") low->first = low->first + Dim(1);
    if (!seen) {
      // not (low <= high) is high + 1 <= low.
      std::swap(low, high);
      low->first = low->first + Dim(1);
    }
    if (low->axis != 0 || high->axis != 1) return std::nullopt;
    return Sight{low->first, high->first};
  }

  static std::optional<Positions> PositionsOf(const Node* value) {
    const MetaTensor& type = value->AsArg().type;
    const std::optional<int> axis = LongAxis(value);
    if (!axis || !IsInteger(type.dtype) || SizeOf(type.dtype) < 4) return std::nullopt;  // narrow ones wrap round
    if (type.values && !type.values->empty()) {
      const std::vector<Dim>& numbers = *type.values;
      for (size_t i = 1; i < numbers.size(); ++i) {
        if (numbers[i] != numbers[0] + Dim(static_cast<int64_t>(i))) return std::nullopt;
      }
      return Positions{numbers[0], *axis};
    }
    if (value->producer() == nullptr) return std::nullopt;
    const Node::Stmt& stmt = value->producer()->AsStmt();
    const std::string op = stmt.op_type();
    if (op == "arange") {
      const std::optional<Dim> start = Number(stmt, "start");
      const std::optional<Dim> step = Number(stmt, "step");
      if (!start || !step || *step != Dim(1)) return std::nullopt;
      return Positions{*start, *axis};
    }
    if (IsViewOrCast(op)) {
      std::optional<Positions> positions = PositionsOf(stmt.input("x"));
      if (positions) positions->axis = *axis;
      return positions;
    }
    if (op != "add" && op != "subtract") return std::nullopt;
    const std::optional<Positions> x = PositionsOf(stmt.input("x"));
    const std::optional<Positions> y = PositionsOf(stmt.input("y"));
    if (!x || !y) return std::nullopt;
    if (op == "subtract") return y->axis >= 0 ? std::nullopt : std::optional(Positions{x->first - y->first, x->axis});
    if (x->axis >= 0 && y->axis >= 0) return std::nullopt;
    return Positions{x->first + y->first, std::max(x->axis, y->axis)};
  }

  // An argument of arange, which is an attribute or a value.
  static std::optional<Dim> Number(const Node::Stmt& stmt, const char* name) {
    if (stmt.HasAttr(name)) {
      const auto& scalar = stmt.GetAttr<Scalar>(name);
      return IsInteger(scalar.dtype()) ? std::optional<Dim>(scalar.to<int64_t>()) : std::nullopt;
    }
    const Node* const value = stmt.input(name);
    if (value == nullptr || !value->AsArg().type.values || value->AsArg().type.values->size() != 1) return std::nullopt;
    return value->AsArg().type.values->front();
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(causal_mask_fuse_pass, wherry::mir::CausalMaskFusePass)
    .BindTargets({TARGET(kAny)})
    .BindKernel("attention");
