// The expressions behind symbolic Dims, and the table that makes equal ones the same node. For dim*.cc only.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/dim.h"

namespace wherry {

// coefficient * atoms[0] * atoms[1] * ...; an atom is any SymExpr but a sum. Atoms are sorted by text, repeated for
// powers.
struct SymTerm {
  int64_t coefficient = 0;
  std::vector<const SymExpr*> atoms;
};

// A polynomial in normal form: no zero coefficients, each product of atoms once, in descending graded lexicographic
// order (which is kept when both sides are multiplied, so the first term can be divided out). Empty: 0.
class SymTerms {
 public:
  SymTerms() = default;
  explicit SymTerms(const Dim& dim);
  explicit SymTerms(SymTerm term);

  const std::vector<SymTerm>& terms() const { return terms_; }
  bool empty() const { return terms_.empty(); }
  size_t size() const { return terms_.size(); }
  const SymTerm& front() const { return terms_.front(); }
  // Whether no term has atoms.
  bool constant() const { return terms_.empty() || terms_.front().atoms.empty(); }
  // Whether it is >= 0 whatever the symbols are.
  bool nonnegative() const;
  // Adds factor * term * other. Coefficients that overflow: Error(kOutOfRange).
  void Add(const SymTerms& other, const SymTerm& factor);
  void Add(const SymTerms& other) { Add(other, SymTerm{1, {}}); }
  // The product; nullopt if it is far beyond the size limit.
  static std::optional<SymTerms> Multiply(const SymTerms& a, const SymTerms& b);

 private:
  std::vector<SymTerm> terms_;
};

// a / b as a term when b divides a exactly.
std::optional<SymTerm> DivideTerm(const SymTerm& a, const SymTerm& b);

enum class SymKind : uint8_t { kSymbol, kFloorDiv, kMax, kMin, kBroadcast, kSum };

// Immutable.
struct SymExpr {
  SymKind kind = SymKind::kSymbol;
  bool nonnegative = false;
  SymbolTable::Impl* table = nullptr;
  std::string text;           // unique within the table
  std::string name;           // kSymbol
  std::vector<Dim> operands;  // atoms other than symbols
  SymTerms terms;             // kSum
};

struct SymbolTable::Impl {
  // The node for a symbol, made if absent.
  const SymExpr* Symbol(const std::string& name);
  Dim FreshSymbol(const std::string& stem);
  // The Dim of a polynomial or an atom; nullopt when it would be too large.
  std::optional<Dim> FromTerms(SymTerms terms);
  std::optional<Dim> FromAtom(SymKind kind, std::vector<Dim> operands);
  // What a result that is too large becomes: the same "~expr" symbol for the same operation and operands.
  Dim Collapse(char operation, const Dim& a, const Dim& b);

 private:
  // Bytes of text of one expression: some hundred symbols. Real models stay below 200.
  static constexpr size_t kMaxText = 4096;
  // Once all texts together exceed the budget, only short ones are kept exact.
  static constexpr size_t kTextBudget = size_t{64} << 20U;
  static constexpr size_t kMaxTextBeyondBudget = 64;

  struct Operation {
    char operation;
    Dim a;
    Dim b;
    bool operator<(const Operation& other) const;
  };

  const SymExpr* SymbolLocked(const std::string& name);
  std::optional<Dim> Intern(SymExpr expr);

  std::mutex mutex_;
  std::unordered_map<std::string_view, std::unique_ptr<const SymExpr>> nodes_;  // by text, which the node owns
  std::unordered_map<std::string, int64_t> fresh_;                              // the next number to try, by stem
  std::map<Operation, const SymExpr*> collapsed_;
  size_t text_bytes_ = 0;
};

}  // namespace wherry
