#include "core/scope.h"

#include "base/check.h"
#include "base/strings.h"

namespace wherry {

const DenseTensor& Variable::tensor() const {
  const auto* value = std::get_if<DenseTensor>(&value_);
  WHERRY_ENFORCE(value != nullptr, kInvalidArgument, "the variable is a sequence of ", sequence().size(),
                 " tensors, not a tensor");
  return *value;
}

DenseTensor* Variable::mutable_tensor() { return const_cast<DenseTensor*>(&std::as_const(*this).tensor()); }

const std::vector<DenseTensor>& Variable::sequence() const {
  const auto* value = std::get_if<std::vector<DenseTensor>>(&value_);
  WHERRY_ENFORCE(value != nullptr, kInvalidArgument, "the variable is a tensor, not a sequence");
  return *value;
}

std::vector<DenseTensor>* Variable::mutable_sequence() {
  if (IsTensor()) value_.emplace<std::vector<DenseTensor>>();
  return &std::get<std::vector<DenseTensor>>(value_);
}

Variable* Scope::Var(const std::string& name) {
  std::unique_ptr<Variable>& var = vars_[name];
  if (var == nullptr) var = std::make_unique<Variable>();
  return var.get();
}

const Variable* Scope::FindVar(const std::string& name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->parent_) {
    const auto found = scope->vars_.find(name);
    if (found != scope->vars_.end()) return found->second.get();
  }
  return nullptr;
}

const Variable& Scope::GetVar(const std::string& name) const {
  if (const Variable* var = FindVar(name)) return *var;
  std::vector<std::string> names;
  for (const Scope* scope = this; scope != nullptr; scope = scope->parent_) {
    for (const std::string& local : scope->LocalVarNames()) names.push_back(local);
  }
  Throw(ErrorCode::kNotFound, "no variable ", Quote(name), " in the scope", DidYouMean(name, names));
}

std::vector<std::string> Scope::LocalVarNames() const {
  std::vector<std::string> names;
  names.reserve(vars_.size());
  for (const auto& [name, var] : vars_) names.push_back(name);
  return names;
}

}  // namespace wherry
