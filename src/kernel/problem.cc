#include "kernel/problem.h"

#include "base/check.h"

namespace wherry {

const BoundArg& KernelProblem::Bound(std::string_view arg) const {
  const int index = schema_.FindArg(arg);
  WHERRY_CHECK(index >= 0, "a kernel of ", schema_.name, " asks for the argument '", arg,
               "', which the op does not have");
  return args_[static_cast<size_t>(index)];
}

const MetaTensor* KernelProblem::Input(std::string_view arg) const {
  const BoundArg& bound = Bound(arg);
  return bound.tensors.empty() ? nullptr : bound.tensors[0];
}

const std::vector<const MetaTensor*>& KernelProblem::InputList(std::string_view arg) const {
  return Bound(arg).tensors;
}

bool KernelProblem::IsConstant(std::string_view arg) const {
  const int index = schema_.FindArg(arg);
  for (int8_t constant : constants_) {
    if (constant == index) return true;
  }
  return false;
}

const ::wherry::Attribute& KernelProblem::Attribute(std::string_view arg) const {
  const BoundArg& bound = Bound(arg);
  WHERRY_ENFORCE(bound.attribute != nullptr, kInvalidArgument, schema_.name, ": argument '", arg,
                 "' comes from a tensor, its value is not known ahead");
  return *bound.attribute;
}

}  // namespace wherry
