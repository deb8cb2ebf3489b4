// KernelProblem: one op call seen from a kernel before it runs: what its inputs and outputs are, its attributes, the
// threads. Supports() and Plan() read it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "op/attribute_cast.h"
#include "op/op_schema.h"

namespace wherry {

class KernelProblem {
 public:
  // `args` in the schema's argument order; `outputs` flattened. `constants` names the arguments (by index) whose
  // tensors never change (weights): only those may be packed. All referenced objects outlive the problem.
  KernelProblem(const OpSchema& schema, const std::vector<BoundArg>& args, std::span<const MetaTensor* const> outputs,
                std::span<const int8_t> constants, int threads)
      : schema_(schema), args_(args), outputs_(outputs), constants_(constants), threads_(threads) {}

  const OpSchema& schema() const { return schema_; }
  int threads() const { return threads_; }

  // The single tensor bound to an argument; null when absent. Dimensions may be symbols in Supports, never in Plan.
  const MetaTensor* Input(std::string_view arg) const;
  const std::vector<const MetaTensor*>& InputList(std::string_view arg) const;
  const MetaTensor& Output(size_t i = 0) const { return *outputs_[i]; }
  size_t output_count() const { return outputs_.size(); }
  bool IsConstant(std::string_view arg) const;

  // The attribute as T. Error(kInvalidArgument) when the argument is bound to a tensor (see HasAttr).
  template <typename T>
  decltype(auto) Attr(std::string_view arg) const {
    return AttributeCast<T>(Attribute(arg));
  }
  bool HasAttr(std::string_view arg) const { return Bound(arg).attribute != nullptr; }

 private:
  const BoundArg& Bound(std::string_view arg) const;  // unknown name: Error(kInternal)
  const ::wherry::Attribute& Attribute(std::string_view arg) const;

  const OpSchema& schema_;
  const std::vector<BoundArg>& args_;
  std::span<const MetaTensor* const> outputs_;
  std::span<const int8_t> constants_;
  int threads_;
};

}  // namespace wherry
