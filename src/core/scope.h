// Scope: names -> variables, with a parent. What OperatorBase::Run reads from and writes to.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/dense_tensor.h"

namespace wherry {

// A value at run time: a tensor, or a sequence of tensors. An optional that is absent is a sequence-less, data-less
// tensor.
class Variable {
 public:
  bool IsTensor() const { return std::holds_alternative<DenseTensor>(value_); }
  // Error(kInvalidArgument) if it holds the other kind.
  const DenseTensor& tensor() const;
  DenseTensor* mutable_tensor();
  const std::vector<DenseTensor>& sequence() const;
  std::vector<DenseTensor>* mutable_sequence();  // turns the variable into an empty sequence if it was a tensor

 private:
  std::variant<DenseTensor, std::vector<DenseTensor>> value_;
};

// Not thread-safe for writing. Variables keep their address until the scope dies.
class Scope {
 public:
  explicit Scope(const Scope* parent = nullptr) : parent_(parent) {}
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // The variable of that name in this scope, made if absent.
  Variable* Var(const std::string& name);
  // In this scope or its parents; null if absent.
  const Variable* FindVar(const std::string& name) const;
  // Like FindVar, but absent is Error(kNotFound) with the nearest names.
  const Variable& GetVar(const std::string& name) const;
  // Convenience: the tensor of that name, made if absent.
  DenseTensor* Tensor(const std::string& name) { return Var(name)->mutable_tensor(); }
  std::vector<std::string> LocalVarNames() const;

 private:
  const Scope* parent_;
  std::map<std::string, std::unique_ptr<Variable>> vars_;
};

}  // namespace wherry
