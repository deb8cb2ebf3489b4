#include "core/sym_expr.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "base/checked_math.h"
#include "core/text_cursor.h"

namespace wherry {
namespace {

constexpr char kOverflow[] = "symbolic dimension";

// Before in the order of terms: the higher degree, then the first atom that differs.
bool Before(const std::vector<const SymExpr*>& a, const std::vector<const SymExpr*>& b) {
  if (a.size() != b.size()) return a.size() > b.size();
  const auto [x, y] = std::mismatch(a.begin(), a.end(), b.begin());
  return x != a.end() && (*x)->text < (*y)->text;
}

std::vector<const SymExpr*> MultiplyAtoms(const std::vector<const SymExpr*>& a, const std::vector<const SymExpr*>& b) {
  std::vector<const SymExpr*> product;
  product.reserve(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(product),
             [](const SymExpr* x, const SymExpr* y) { return x->text < y->text; });
  return product;
}

std::string NameText(const std::string& name) {
  const std::string_view rest = std::string_view(name).substr(!name.empty() && name[0] == '~' ? 1 : 0);
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const bool plain = !rest.empty() && letter(rest[0]) &&
                     std::all_of(rest.begin(), rest.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
  return plain ? name : QuoteExact(name);
}

// "2*H", "-N", "5"; with a sign in front of what is not the first.
void AppendTerm(const SymTerm& term, bool first, std::string* text) {
  if (term.coefficient < 0) {
    *text += '-';
  } else if (!first) {
    *text += '+';
  }
  const bool unit = term.coefficient == 1 || term.coefficient == -1;
  if (!unit || term.atoms.empty()) {
    const std::string digits = std::to_string(term.coefficient);
    *text += term.coefficient < 0 ? digits.substr(1) : digits;
    if (!term.atoms.empty()) *text += '*';
  }
  for (size_t i = 0; i < term.atoms.size(); ++i) {
    if (i > 0) *text += '*';
    *text += term.atoms[i]->text;
  }
}

std::string SumText(const SymTerms& terms) {
  std::string text;
  for (const SymTerm& term : terms.terms()) AppendTerm(term, text.empty(), &text);
  return terms.size() == 1 ? text : '(' + text + ')';
}

std::string AtomText(SymKind kind, const std::vector<Dim>& operands) {
  if (kind == SymKind::kFloorDiv) {
    const Dim& divisor = operands[1];
    const std::string text = divisor.DebugString();
    const bool product = !divisor.known() && divisor.expr()->kind == SymKind::kSum && text[0] != '(';
    return "floor(" + operands[0].DebugString() + '/' + (product ? '(' + text + ')' : text) + ')';
  }
  std::string text = kind == SymKind::kMax ? "max(" : kind == SymKind::kMin ? "min(" : "broadcast(";
  for (size_t i = 0; i < operands.size(); ++i) text += (i == 0 ? "" : ", ") + operands[i].DebugString();
  return text + ")";
}

bool NonNegative(const Dim& dim) { return dim.known() ? dim.value() >= 0 : dim.expr()->nonnegative; }

bool AtomNonNegative(SymKind kind, const std::vector<Dim>& operands) {
  // Of floor(a/b), b is not 0.
  if (kind == SymKind::kMax) return std::any_of(operands.begin(), operands.end(), &NonNegative);
  return std::all_of(operands.begin(), operands.end(), &NonNegative);
}

}  // namespace

SymTerms::SymTerms(const Dim& dim) {
  if (dim.known()) {
    if (dim.value() != 0) terms_.push_back({dim.value(), {}});
  } else if (dim.expr()->kind == SymKind::kSum) {
    *this = dim.expr()->terms;
  } else {
    terms_.push_back({1, {dim.expr()}});
  }
}

SymTerms::SymTerms(SymTerm term) {
  if (term.coefficient != 0) terms_.push_back(std::move(term));
}

bool SymTerms::nonnegative() const {
  return std::all_of(terms_.begin(), terms_.end(), [](const SymTerm& term) {
    return term.coefficient > 0 &&
           std::all_of(term.atoms.begin(), term.atoms.end(), [](const SymExpr* atom) { return atom->nonnegative; });
  });
}

void SymTerms::Add(const SymTerms& other, const SymTerm& factor) {
  if (factor.coefficient == 0) return;
  std::vector<SymTerm> sum;
  sum.reserve(terms_.size() + other.terms_.size());
  auto mine = terms_.begin();
  for (const SymTerm& term : other.terms_) {
    SymTerm added{CheckedMul(term.coefficient, factor.coefficient, kOverflow), MultiplyAtoms(term.atoms, factor.atoms)};
    while (mine != terms_.end() && Before(mine->atoms, added.atoms)) sum.push_back(std::move(*mine++));
    if (mine != terms_.end() && mine->atoms == added.atoms) {
      added.coefficient = CheckedAdd(mine->coefficient, added.coefficient, kOverflow);
      ++mine;
    }
    if (added.coefficient != 0) sum.push_back(std::move(added));
  }
  std::move(mine, terms_.end(), std::back_inserter(sum));
  terms_ = std::move(sum);
}

std::optional<SymTerms> SymTerms::Multiply(const SymTerms& a, const SymTerms& b) {
  constexpr size_t kMaxProducts = 1024;  // no text of the greatest size has so many terms
  if (a.size() * b.size() > kMaxProducts) return std::nullopt;
  SymTerms product;
  for (const SymTerm& term : a.terms_) product.Add(b, term);
  return product;
}

std::optional<SymTerm> DivideTerm(const SymTerm& a, const SymTerm& b) {
  if (b.coefficient == -1) {  // the one division that overflows
    return DivideTerm({CheckedSub(int64_t{0}, a.coefficient, kOverflow), a.atoms}, {1, b.atoms});
  }
  if (a.coefficient % b.coefficient != 0 || b.atoms.size() > a.atoms.size()) return std::nullopt;
  SymTerm quotient{a.coefficient / b.coefficient, {}};
  auto divisor = b.atoms.begin();
  for (const SymExpr* atom : a.atoms) {
    if (divisor != b.atoms.end() && *divisor == atom) {
      ++divisor;
    } else {
      quotient.atoms.push_back(atom);
    }
  }
  if (divisor != b.atoms.end()) return std::nullopt;
  return quotient;
}

bool SymbolTable::Impl::Operation::operator<(const Operation& other) const {
  const auto key = [](const Operation& o) {
    return std::tuple(o.operation, o.a.known() ? o.a.value() : 0, o.b.known() ? o.b.value() : 0);
  };
  if (key(*this) != key(other)) return key(*this) < key(other);
  const std::less<> less;  // total for pointers
  if (a.expr() != other.a.expr()) return less(a.expr(), other.a.expr());
  return less(b.expr(), other.b.expr());
}

const SymExpr* SymbolTable::Impl::SymbolLocked(const std::string& name) {
  auto node = std::make_unique<SymExpr>();
  node->text = NameText(name);
  const auto found = nodes_.find(node->text);
  if (found != nodes_.end()) return found->second.get();
  node->kind = SymKind::kSymbol;
  node->name = name;
  node->table = this;
  node->nonnegative = name.empty() || name[0] != '~';
  text_bytes_ += node->text.size();
  const std::string_view key = node->text;
  return nodes_.emplace(key, std::move(node)).first->second.get();
}

const SymExpr* SymbolTable::Impl::Symbol(const std::string& name) {
  const std::lock_guard lock(mutex_);
  return SymbolLocked(name);
}

Dim SymbolTable::Impl::FreshSymbol(const std::string& stem) {
  const std::lock_guard lock(mutex_);
  for (int64_t& number = fresh_[stem];; ++number) {
    const std::string name = number == 0 ? stem : stem + '_' + std::to_string(number);
    if (nodes_.count(NameText(name)) != 0) continue;
    ++number;
    return Dim(SymbolLocked(name));
  }
}

std::optional<Dim> SymbolTable::Impl::Intern(SymExpr expr) {
  const std::lock_guard lock(mutex_);
  const auto found = nodes_.find(expr.text);
  if (found != nodes_.end()) return Dim(found->second.get());
  if (expr.text.size() > (text_bytes_ > kTextBudget ? kMaxTextBeyondBudget : kMaxText)) return std::nullopt;
  expr.table = this;
  text_bytes_ += expr.text.size();
  auto node = std::make_unique<const SymExpr>(std::move(expr));
  const std::string_view key = node->text;
  return Dim(nodes_.emplace(key, std::move(node)).first->second.get());
}

std::optional<Dim> SymbolTable::Impl::FromTerms(SymTerms terms) {
  if (terms.empty()) return Dim(0);
  const SymTerm& first = terms.front();
  if (terms.size() == 1 && first.atoms.empty()) return Dim(first.coefficient);
  if (terms.size() == 1 && first.atoms.size() == 1 && first.coefficient == 1) return Dim(first.atoms[0]);
  SymExpr expr;
  expr.kind = SymKind::kSum;
  expr.nonnegative = terms.nonnegative();
  expr.text = SumText(terms);
  expr.terms = std::move(terms);
  return Intern(std::move(expr));
}

std::optional<Dim> SymbolTable::Impl::FromAtom(SymKind kind, std::vector<Dim> operands) {
  SymExpr expr;
  expr.kind = kind;
  expr.nonnegative = AtomNonNegative(kind, operands);
  expr.text = AtomText(kind, operands);
  expr.operands = std::move(operands);
  return Intern(std::move(expr));
}

Dim SymbolTable::Impl::Collapse(char operation, const Dim& a, const Dim& b) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = collapsed_.find({operation, a, b});
    if (found != collapsed_.end()) return Dim(found->second);
  }
  const Dim symbol = FreshSymbol("~expr");
  const std::lock_guard lock(mutex_);
  // If another thread was faster, its symbol counts.
  return Dim(collapsed_.emplace(Operation{operation, a, b}, symbol.expr()).first->second);
}

}  // namespace wherry
