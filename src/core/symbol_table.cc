// SymbolTable, and what walks expressions: Parse, Evaluate, SymbolsOf.
#include <map>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/checked_math.h"
#include "base/strings.h"
#include "core/dim.h"
#include "core/sym_expr.h"
#include "core/text_cursor.h"

namespace wherry {
namespace {

// sum     = ["-"] product {("+" | "-") product}
// product = factor {"*" factor}
// factor  = digits | name | "(" sum ")" | "floor(" sum "/" sum ")" | ("mod(" | "max(" | "min(" | "broadcast(") sum {","
// sum} ")"
class DimParser {
 public:
  DimParser(SymbolTable* table, std::string_view text) : table_(table), cursor_(text, "dimension") {}

  Dim Run() {
    const Dim dim = Sum();
    cursor_.ExpectEnd();
    return dim;
  }

 private:
  Dim Sum() {
    // What DebugString prints is at most half as deep: 4096 bytes, 9 for each "floor(/2)".
    constexpr int kMaxDepth = 1000;
    if (++depth_ > kMaxDepth) cursor_.Fail("less deeply nested parentheses");
    Dim sum = Product(cursor_.Accept('-'));
    while (true) {
      if (cursor_.Accept('+')) {
        sum = sum + Product(false);
      } else if (cursor_.Accept('-')) {
        sum = sum + Product(true);
      } else {
        break;
      }
    }
    --depth_;
    return sum;
  }

  Dim Product(bool negative) {
    const bool number = cursor_.Peek() >= '0' && cursor_.Peek() <= '9';
    Dim product = number ? Integer(negative) : Factor();
    if (negative && !number) product = Dim(0) - product;
    while (cursor_.Accept('*')) product = product * Factor();
    return product;
  }

  // With its sign, as -2^63 has no positive counterpart.
  Dim Integer(bool negative) {
    const std::string digits = (negative ? "-" : "") + std::string(cursor_.Digits("a number"));
    const auto value = ParseNumber<int64_t>(digits);
    if (!value) cursor_.Fail("a 64-bit number, before this,");
    return *value;
  }

  Dim Factor() {
    const char next = cursor_.Peek();
    if (next >= '0' && next <= '9') return Integer(false);
    if (next == '"') return table_->Symbol(cursor_.QuotedText());
    if (cursor_.Accept('~')) return table_->Symbol("~" + std::string(cursor_.Word("a name")));
    if (cursor_.Accept('(')) {
      const Dim sum = Sum();
      cursor_.Expect(')');
      return sum;
    }
    const std::string name(
        cursor_.Word("a dimension: a number, a name, an expression in parentheses, floor, mod, max, min or broadcast"));
    if (!cursor_.Accept('(')) return table_->Symbol(name);
    const Dim result = Call(name);
    cursor_.Expect(')');
    return result;
  }

  Dim Call(const std::string& name) {
    Dim result = Sum();
    if (name == "floor") {
      cursor_.Expect('/');
      return FloorDiv(result, Sum());
    }
    if (name == "mod") {
      cursor_.Expect(',');
      return Mod(result, Sum());
    }
    if (name != "max" && name != "min" && name != "broadcast")
      cursor_.Fail("floor, mod, max, min or broadcast, before this,");
    while (cursor_.Accept(',')) {
      const Dim next = Sum();
      if (name == "broadcast") {
        const auto both = BroadcastDim(result, next);
        if (!both) cursor_.Fail("dimensions that broadcast, before this,");
        result = *both;
      } else {
        result = name == "max" ? Max(result, next) : Min(result, next);
      }
    }
    return result;
  }

  SymbolTable* table_;
  TextCursor cursor_;
  int depth_ = 0;
};

// Depth is bounded by the size of an expression's text.
class Evaluator {
 public:
  explicit Evaluator(const SymbolValues& values) : values_(values) {}

  std::optional<int64_t> Run(const Dim& dim) { return dim.known() ? dim.value() : Run(dim.expr()); }

 private:
  std::optional<int64_t> Run(const SymExpr* expr) {
    const auto found = results_.find(expr);
    if (found != results_.end()) return found->second;
    return results_[expr] = Compute(*expr);
  }

  std::optional<int64_t> Compute(const SymExpr& expr) {
    if (expr.kind == SymKind::kSymbol) {
      const auto found = values_.find(expr.name);
      if (found == values_.end()) return std::nullopt;
      WHERRY_ENFORCE(found->second >= 0 || !expr.nonnegative, kInvalidArgument, "dimension ", Quote(expr.name), " is ",
                     found->second);
      return found->second;
    }
    if (expr.kind == SymKind::kSum) return Sum(expr.terms);
    std::vector<Dim> operands;
    for (const Dim& operand : expr.operands) {
      const auto value = Run(operand);
      if (!value) return std::nullopt;
      operands.emplace_back(*value);
    }
    Dim result = operands[0];
    for (size_t i = 1; i < operands.size(); ++i) {
      switch (expr.kind) {
        case SymKind::kFloorDiv: result = FloorDiv(result, operands[i]); break;
        case SymKind::kMax: result = Max(result, operands[i]); break;
        case SymKind::kMin: result = Min(result, operands[i]); break;
        default: {
          const auto both = BroadcastDim(result, operands[i]);
          WHERRY_ENFORCE(both.has_value(), kInvalidArgument, "dimensions ", result.value(), " and ",
                         operands[i].value(), " of ", expr.text, " do not broadcast");
          result = *both;
        }
      }
    }
    return result.value();
  }

  std::optional<int64_t> Sum(const SymTerms& terms) {
    int64_t sum = 0;
    for (const SymTerm& term : terms.terms()) {
      int64_t product = term.coefficient;
      for (const SymExpr* atom : term.atoms) {
        const auto value = Run(atom);
        if (!value) return std::nullopt;
        product = CheckedMul(product, *value, "dimension");
      }
      sum = CheckedAdd(sum, product, "dimension");
    }
    return sum;
  }

  const SymbolValues& values_;
  std::map<const SymExpr*, std::optional<int64_t>> results_;
};

void CollectSymbols(const SymExpr* expr, std::set<const SymExpr*>* visited, std::set<std::string>* names) {
  if (!visited->insert(expr).second) return;
  if (expr->kind == SymKind::kSymbol) names->insert(expr->name);
  for (const SymTerm& term : expr->terms.terms()) {
    for (const SymExpr* atom : term.atoms) CollectSymbols(atom, visited, names);
  }
  for (const Dim& operand : expr->operands) {
    if (!operand.known()) CollectSymbols(operand.expr(), visited, names);
  }
}

}  // namespace

SymbolTable::SymbolTable() : impl_(std::make_unique<Impl>()) {}
SymbolTable::~SymbolTable() = default;

Dim SymbolTable::Symbol(const std::string& name) { return Dim(impl_->Symbol(name)); }
Dim SymbolTable::FreshSymbol(const std::string& stem) { return impl_->FreshSymbol(stem); }
Dim SymbolTable::Parse(std::string_view text) { return DimParser(this, text).Run(); }

std::optional<int64_t> Evaluate(const Dim& dim, const SymbolValues& values) { return Evaluator(values).Run(dim); }

std::vector<std::string> SymbolsOf(const Dim& dim) {
  std::set<const SymExpr*> visited;
  std::set<std::string> names;
  if (!dim.known()) CollectSymbols(dim.expr(), &visited, &names);
  return {names.begin(), names.end()};
}

}  // namespace wherry
