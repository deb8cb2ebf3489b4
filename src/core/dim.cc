#include "core/dim.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/checked_math.h"
#include "core/sym_expr.h"

namespace wherry {
namespace {

constexpr char kOverflow[] = "dimension";

SymbolTable::Impl& TableOf(const Dim& a, const Dim& b) {
  SymbolTable::Impl* table = a.known() ? b.expr()->table : a.expr()->table;
  WHERRY_CHECK(b.known() || b.expr()->table == table, "dimensions ", a.DebugString(), " and ", b.DebugString(),
               " are of two symbol tables");
  return *table;
}

int64_t FloorDivNumbers(int64_t a, int64_t b) {
  if (b == -1) return CheckedSub(int64_t{0}, a, kOverflow);
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

int64_t ModNumbers(int64_t a, int64_t b) {
  if (b == -1) return 0;
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Dim AddScaled(const Dim& a, const Dim& b, int64_t factor, char operation) {
  SymbolTable::Impl& table = TableOf(a, b);
  SymTerms sum(a);
  sum.Add(SymTerms(b), {factor, {}});
  if (const auto dim = table.FromTerms(std::move(sum))) return *dim;
  return table.Collapse(operation, a, b);
}

// The only floor(x/d) with a number d in `terms` when it stands alone as 1 * floor(x/d); null if there is none, or
// there are more.
const SymExpr* OnlyFloor(const SymTerms& terms) {
  const SymExpr* only = nullptr;
  for (const SymTerm& term : terms.terms()) {
    for (const SymExpr* atom : term.atoms) {
      if (atom->kind != SymKind::kFloorDiv) continue;
      if (only != nullptr || term.coefficient != 1 || term.atoms.size() != 1) return nullptr;
      only = atom;
    }
  }
  return only != nullptr && only->operands[1].known() ? only : nullptr;
}

// Coefficients below this stay far from overflow when a nested floor is flattened.
bool IsSmall(const SymTerms& terms) {
  constexpr int64_t kSmall = int64_t{1} << 30U;
  return std::all_of(terms.terms().begin(), terms.terms().end(),
                     [](const SymTerm& term) { return term.coefficient > -kSmall && term.coefficient < kSmall; });
}

Dim FloorAtom(SymbolTable::Impl* table, const Dim& a, const Dim& b) {
  if (const auto atom = table->FromAtom(SymKind::kFloorDiv, {a, b})) return *atom;
  return table->Collapse('/', a, b);
}

Dim FromTermsOr(SymbolTable::Impl* table, SymTerms terms, char operation, const Dim& a, const Dim& b) {
  if (const auto dim = table->FromTerms(std::move(terms))) return *dim;
  return table->Collapse(operation, a, b);
}

// floor(a / d) for d > 1 and a symbolic. Each coefficient is split into a multiple of d and a rest in [0, d), which
// makes floor((H-1)/2) + 1 the same as floor((H+1)/2).
Dim FloorDivByNumber(const Dim& a, int64_t d) {
  SymbolTable::Impl* table = a.expr()->table;
  SymTerms whole;
  SymTerms rest;
  int64_t rest_constant = 0;
  int64_t common = d;
  const SymTerms dividend(a);
  for (const SymTerm& term : dividend.terms()) {
    const int64_t remainder = ModNumbers(term.coefficient, d);
    whole.Add(SymTerms(SymTerm{FloorDivNumbers(term.coefficient, d), term.atoms}));
    if (term.atoms.empty()) {
      rest_constant = remainder;
    } else if (remainder != 0) {
      rest.Add(SymTerms(SymTerm{remainder, term.atoms}));
      common = std::gcd(common, remainder);
    }
  }
  const Dim quotient = FromTermsOr(table, whole, 'q', a, d);
  if (rest.empty()) return quotient;
  // floor((g*r + c) / (g*e)) = floor((r + floor(c/g)) / e)
  SymTerms numerator(Dim(rest_constant / common));
  for (const SymTerm& term : rest.terms()) numerator.Add(SymTerms(SymTerm{term.coefficient / common, term.atoms}));
  const int64_t divisor = d / common;
  if (divisor == 1) return quotient + FromTermsOr(table, std::move(numerator), 'r', a, d);
  // floor((floor(x/y) + t) / e) = floor((x + t*y) / (y*e))
  const SymExpr* inner = OnlyFloor(numerator);
  if (inner != nullptr && IsSmall(numerator)) {
    const SymTerms x(inner->operands[0]);
    const int64_t y = inner->operands[1].value();
    if (IsSmall(x) && y < (int64_t{1} << 30U) && divisor < (int64_t{1} << 30U)) {
      numerator.Add(SymTerms(Dim(inner)), {-1, {}});
      SymTerms flat = x;
      flat.Add(numerator, {y, {}});
      return quotient + FloorDiv(FromTermsOr(table, std::move(flat), 'n', a, d), y * divisor);
    }
  }
  return quotient + FloorAtom(table, FromTermsOr(table, std::move(numerator), 'r', a, d), divisor);
}

int64_t Gcd(int64_t a, int64_t b) {
  const auto magnitude = [](int64_t x) {
    return x < 0 ? uint64_t{0} - static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
  };
  const uint64_t divisor = std::gcd(magnitude(a), magnitude(b));
  return divisor <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) ? static_cast<int64_t>(divisor) : 1;
}

// The greatest term that divides every term of both: coefficients and atoms.
SymTerm CommonFactor(const SymTerms& a, const SymTerms& b) {
  SymTerm common{0, b.front().atoms};
  for (const SymTerms* terms : {&a, &b}) {
    for (const SymTerm& term : terms->terms()) {
      common.coefficient = Gcd(common.coefficient, term.coefficient);
      std::vector<const SymExpr*> shared;
      auto other = term.atoms.begin();
      for (const SymExpr* atom : common.atoms) {
        while (other != term.atoms.end() && (*other)->text < atom->text) ++other;
        if (other != term.atoms.end() && *other == atom) shared.push_back(*other++);
      }
      common.atoms = std::move(shared);
    }
  }
  return common;
}

SymTerms DivideTerms(const SymTerms& terms, const SymTerm& divisor) {
  SymTerms quotient;
  for (const SymTerm& term : terms.terms()) quotient.Add(SymTerms(*DivideTerm(term, divisor)));
  return quotient;
}

// floor(a / b) for a symbolic b.
Dim FloorDivBySymbol(const Dim& a, const Dim& b) {
  if (const auto exact = ExactDiv(a, b)) return *exact;
  SymbolTable::Impl* table = &TableOf(a, b);
  SymTerms p(a);
  SymTerms q(b);
  SymTerm common = CommonFactor(p, q);
  if (q.front().coefficient < 0)
    common.coefficient = -common.coefficient;  // a positive leading coefficient below the line
  p = DivideTerms(p, common);
  q = DivideTerms(q, common);
  if (q.constant())
    return FloorDiv(FromTermsOr(table, std::move(p), 'p', a, b), FromTermsOr(table, std::move(q), 'd', a, b));
  SymTerms whole;
  if (q.size() == 1) {  // what the divisor divides comes out
    SymTerms rest;
    const SymTerm& divisor = q.front();
    for (const SymTerm& term : p.terms()) {
      const auto monomial = DivideTerm({divisor.coefficient, term.atoms}, divisor);
      if (!monomial) {
        rest.Add(SymTerms(term));
        continue;
      }
      whole.Add(SymTerms(SymTerm{FloorDivNumbers(term.coefficient, divisor.coefficient), monomial->atoms}));
      rest.Add(SymTerms(SymTerm{ModNumbers(term.coefficient, divisor.coefficient), term.atoms}));
    }
    p = std::move(rest);
  }
  const Dim quotient = FromTermsOr(table, std::move(whole), 'q', a, b);
  if (p.empty()) return quotient;
  return quotient +
         FloorAtom(table, FromTermsOr(table, std::move(p), 'p', a, b), FromTermsOr(table, std::move(q), 'd', a, b));
}

// The operands of a and b when they are of that kind, each once, sorted by text.
std::vector<Dim> Flatten(SymKind kind, const Dim& a, const Dim& b) {
  std::vector<Dim> operands;
  for (const Dim& dim : {a, b}) {
    if (!dim.known() && dim.expr()->kind == kind) {
      operands.insert(operands.end(), dim.expr()->operands.begin(), dim.expr()->operands.end());
    } else {
      operands.push_back(dim);
    }
  }
  std::sort(operands.begin(), operands.end(), [](const Dim& x, const Dim& y) {
    if (x.known() || y.known()) return x.known() && (!y.known() || x.value() < y.value());
    return x.expr()->text < y.expr()->text;
  });
  operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
  return operands;
}

// Whether a >= b whatever the symbols are, as far as can be told.
bool AtLeast(const Dim& a, const Dim& b) {
  try {
    SymTerms difference(a);
    difference.Add(SymTerms(b), {-1, {}});
    return difference.nonnegative();
  } catch (const Error&) {  // the difference overflows: ONNX's Slice has -2^63 for "the beginning"
    return false;
  }
}

Dim Extremum(SymKind kind, const Dim& a, const Dim& b) {
  std::vector<Dim> kept;
  for (const Dim& dim : Flatten(kind, a, b)) {
    const auto beats = [&](const Dim& x, const Dim& y) {
      return kind == SymKind::kMax ? AtLeast(x, y) : AtLeast(y, x);
    };
    if (std::any_of(kept.begin(), kept.end(), [&](const Dim& other) { return beats(other, dim); })) continue;
    kept.erase(std::remove_if(kept.begin(), kept.end(), [&](const Dim& other) { return beats(dim, other); }),
               kept.end());
    kept.push_back(dim);
  }
  if (kept.size() == 1) return kept[0];
  SymbolTable::Impl& table = TableOf(a, b);
  if (const auto atom = table.FromAtom(kind, std::move(kept))) return *atom;
  return table.Collapse(kind == SymKind::kMax ? 'M' : 'm', a, b);
}

}  // namespace

int64_t Dim::value() const {
  WHERRY_CHECK(known(), "the value of the symbolic dimension ", DebugString());
  return value_;
}

std::string Dim::DebugString() const { return known() ? std::to_string(value_) : expr_->text; }

Dim operator+(const Dim& a, const Dim& b) {
  if (a.known() && b.known()) return CheckedAdd(a.value_, b.value_, kOverflow);
  return AddScaled(a, b, 1, '+');
}

Dim operator-(const Dim& a, const Dim& b) {
  if (a.known() && b.known()) return CheckedSub(a.value_, b.value_, kOverflow);
  return AddScaled(a, b, -1, '-');
}

Dim operator*(const Dim& a, const Dim& b) {
  if (a.known() && b.known()) return CheckedMul(a.value_, b.value_, kOverflow);
  SymbolTable::Impl& table = TableOf(a, b);
  std::optional<SymTerms> product = SymTerms::Multiply(SymTerms(a), SymTerms(b));
  if (product) {
    if (const auto dim = table.FromTerms(std::move(*product))) return *dim;
  }
  return table.Collapse('*', a, b);
}

Dim FloorDiv(const Dim& a, const Dim& b) {
  if (!b.known()) return FloorDivBySymbol(a, b);
  const int64_t divisor = b.value();
  WHERRY_ENFORCE(divisor != 0, kInvalidArgument, "dimension ", a.DebugString(), " is divided by 0");
  if (a.known()) return FloorDivNumbers(a.value(), divisor);
  if (divisor == 1) return a;
  if (divisor < 0) return FloorDiv(Dim(0) - a, CheckedSub(int64_t{0}, divisor, kOverflow));
  return FloorDivByNumber(a, divisor);
}

Dim CeilDiv(const Dim& a, const Dim& b) {
  if (a.known() || !b.known() || b.value() <= 0) return Dim(0) - FloorDiv(Dim(0) - a, b);
  return FloorDiv(a + (b - 1), b);  // the form that convolutions and pools give
}

Dim Mod(const Dim& a, const Dim& b) {
  if (a.known() && b.known() && b.value() != 0) return ModNumbers(a.value(), b.value());
  return a - b * FloorDiv(a, b);
}

Dim Max(const Dim& a, const Dim& b) {
  if (a.known() && b.known()) return std::max(a.value(), b.value());
  return Extremum(SymKind::kMax, a, b);
}

Dim Min(const Dim& a, const Dim& b) {
  if (a.known() && b.known()) return std::min(a.value(), b.value());
  return Extremum(SymKind::kMin, a, b);
}

std::optional<Dim> BroadcastDim(const Dim& a, const Dim& b) {
  if (a == b || b == Dim(1)) return a;
  if (a == Dim(1)) return b;
  if (a.known() && b.known()) return std::nullopt;
  if (a.known()) return a;  // then b must be a or 1
  if (b.known()) return b;
  std::vector<Dim> operands = Flatten(SymKind::kBroadcast, a, b);
  if (operands.size() == 1) return operands[0];
  SymbolTable::Impl& table = TableOf(a, b);
  if (const auto atom = table.FromAtom(SymKind::kBroadcast, std::move(operands))) return *atom;
  return table.Collapse('b', a, b);
}

std::optional<Dim> ExactDiv(const Dim& a, const Dim& b) {
  if (b == Dim(0)) return std::nullopt;
  if (a == b) return Dim(1);
  if (a.known() && b.known()) {
    if (ModNumbers(a.value(), b.value()) != 0) return std::nullopt;
    return FloorDivNumbers(a.value(), b.value());
  }
  // Long division: the leading terms decrease, so it ends; a quotient of more terms than this would not be kept anyway.
  constexpr int kMaxSteps = 1024;
  const SymTerms divisor(b);
  SymTerms rest(a);
  SymTerms quotient;
  for (int step = 0; !rest.empty(); ++step) {
    const auto term = DivideTerm(rest.front(), divisor.front());
    if (!term || step == kMaxSteps) return std::nullopt;
    quotient.Add(SymTerms(*term));
    rest.Add(divisor, {CheckedSub(int64_t{0}, term->coefficient, kOverflow), term->atoms});
  }
  return TableOf(a, b).FromTerms(std::move(quotient));
}

Dim Product(const std::vector<Dim>& dims) {
  if (std::find(dims.begin(), dims.end(), Dim(0)) != dims.end()) return 0;  // before the others can overflow
  Dim product = 1;
  for (const Dim& dim : dims) product = product * dim;
  return product;
}

}  // namespace wherry
