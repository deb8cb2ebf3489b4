// Dim: one dimension in a graph: a number, or a symbolic expression over dimensions that are known only at run time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wherry/types.h"

namespace wherry {

class SymbolTable;
struct SymExpr;  // a node owned by a SymbolTable; equal expressions are the same node

// A symbol stands for an integer >= 0, as a dimension may be 0 at run time: what is simplified holds for 0 too (only a
// divisor is taken not to be 0: N*C / C is N). A symbol whose name starts with '~' stands for any integer.
//
// Value type of 16 bytes. A symbolic Dim stays valid as long as the SymbolTable it came from. The default is 0.
// Arithmetic on known numbers is plain (overflow: Error(kOutOfRange)); with a symbol the result is simplified and
// hash-consed, so
// == on Dims means "provably equal". The normal form is a polynomial with integer coefficients over symbols,
// floor(a/b), max, min and broadcast. An expression whose text would exceed some thousand characters becomes a new
// symbol "~expr", the same one for the same operation on the same operands, so that no model exhausts memory. Mixing
// two tables is a bug.
class Dim {
 public:
  Dim() = default;
  Dim(int64_t value) : value_(value) {}  // NOLINT: implicit by design
  Dim(int value) : value_(value) {}      // NOLINT
  explicit Dim(const SymExpr* expr) : expr_(expr) {}

  bool known() const { return expr_ == nullptr; }
  int64_t value() const;  // Error(kInternal) when symbolic
  const SymExpr* expr() const { return expr_; }
  // "48", "N", "2*H", "(2*H+1)", "floor((H+1)/2)", "max(H, W)"; names that are not [A-Za-z_~][A-Za-z0-9_]* are in
  // double quotes. The text does not depend on the order in which expressions were made. SymbolTable::Parse gives the
  // same Dim back.
  std::string DebugString() const;

  friend bool operator==(const Dim& a, const Dim& b) { return a.value_ == b.value_ && a.expr_ == b.expr_; }
  friend bool operator!=(const Dim& a, const Dim& b) { return !(a == b); }
  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);

 private:
  int64_t value_ = 0;
  const SymExpr* expr_ = nullptr;
};

Dim FloorDiv(const Dim& a, const Dim& b);  // b known and 0: Error(kInvalidArgument)
Dim CeilDiv(const Dim& a, const Dim& b);
Dim Mod(const Dim& a, const Dim& b);  // a - b * FloorDiv(a, b): the sign of b, as in Python
Dim Max(const Dim& a, const Dim& b);
Dim Min(const Dim& a, const Dim& b);
// The dimension of two broadcast operands: equal, or one of them 1; symbolic ones that cannot be told apart give a
// Broadcast(a, b) expression. Known and incompatible: nullopt.
std::optional<Dim> BroadcastDim(const Dim& a, const Dim& b);
// a / b when it provably divides (2*N*C / C), else nullopt. Used by reshape's -1.
std::optional<Dim> ExactDiv(const Dim& a, const Dim& b);
// Product of dims.
Dim Product(const std::vector<Dim>& dims);

// Owns the symbols and expressions of one program. Thread-safe. Never shrinks; a program holds it by shared_ptr.
class SymbolTable {
 public:
  SymbolTable();
  ~SymbolTable();
  SymbolTable(const SymbolTable&) = delete;
  SymbolTable& operator=(const SymbolTable&) = delete;

  // The symbol of that name, the same for every call with it. Names are as in the model: "batch", "N".
  Dim Symbol(const std::string& name);
  // A symbol with a name that is not in use yet: stem, stem_1, ... Whoever reads a model asks for its names first.
  Dim FreshSymbol(const std::string& stem);
  // Parses what Dim::DebugString prints, and any expression of + - * mod(a, b) and the above. Error(kInvalidArgument)
  // with the place.
  Dim Parse(std::string_view text);

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// Known values for symbols by name; evaluates a Dim to a number, or nullopt if a symbol is missing. A division by 0,
// operands that do not broadcast and a negative value of a symbol are Error(kInvalidArgument), overflow is
// Error(kOutOfRange).
using SymbolValues = std::map<std::string, int64_t>;
std::optional<int64_t> Evaluate(const Dim& dim, const SymbolValues& values);
// The names of the symbols a Dim depends on, sorted.
std::vector<std::string> SymbolsOf(const Dim& dim);

}  // namespace wherry
