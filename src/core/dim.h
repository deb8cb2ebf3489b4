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

// Value type of 16 bytes. A symbolic Dim stays valid as long as the SymbolTable it came from. The default is 0.
// Arithmetic on known numbers is plain (overflow: Error(kOutOfRange)); with a symbol the result is simplified and
// hash-consed, so
// == on Dims means "provably equal". Mixing two tables is a bug.
class Dim {
 public:
  Dim() = default;
  Dim(int64_t value) : value_(value) {}  // NOLINT: implicit by design
  Dim(int value) : value_(value) {}      // NOLINT
  explicit Dim(const SymExpr* expr) : expr_(expr) {}

  bool known() const { return expr_ == nullptr; }
  int64_t value() const;  // Error(kInternal) when symbolic
  const SymExpr* expr() const { return expr_; }
  std::string DebugString() const;  // "48", "N", "(2*H+1)", "floor((H+1)/2)"

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
Dim Mod(const Dim& a, const Dim& b);  // sign of b, as Python
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
  // A symbol with a name that is not in use yet: stem, stem_1, ...
  Dim FreshSymbol(const std::string& stem);
  // Parses what Dim::DebugString prints. Error(kInvalidArgument) with the place.
  Dim Parse(std::string_view text);

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// Known values for symbols by name; evaluates a Dim to a number, or nullopt if a symbol is missing.
using SymbolValues = std::map<std::string, int64_t>;
std::optional<int64_t> Evaluate(const Dim& dim, const SymbolValues& values);
// The names of the symbols a Dim depends on.
std::vector<std::string> SymbolsOf(const Dim& dim);

}  // namespace wherry
