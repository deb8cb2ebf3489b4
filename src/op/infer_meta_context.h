// How an InferMeta function, a plain typed C++ function, is called with an op's bound arguments: its signature is read
// by templates.
//
//   MetaTensor SoftmaxInferMeta(const MetaTensor& x, int axis);
//   InferMetaImpl<&SoftmaxInferMeta>::Call(context);
//
// Parameter types: const MetaTensor&, const MetaTensor* (optional), const std::vector<const MetaTensor*>& (list), const
// SymIntArray&, const SymScalar&, and attributes by their C++ type. Return types: MetaTensor, or
// std::vector<MetaTensor> (all outputs in order; a single list output is the whole vector).
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.h"
#include "op/attribute_cast.h"
#include "op/op_schema.h"

namespace wherry {

class InferMetaContext {
 public:
  InferMetaContext(const OpSchema& schema, const std::vector<BoundArg>& args, std::span<const size_t> output_counts)
      : schema_(schema), args_(args), output_counts_(output_counts) {}

  const OpSchema& schema() const { return schema_; }
  // The i-th parameter of the InferMeta function.
  const BoundArg& Param(size_t i) const { return args_[static_cast<size_t>(schema_.infer_meta_params[i])]; }
  const ArgDef& ParamDef(size_t i) const { return schema_.args[static_cast<size_t>(schema_.infer_meta_params[i])]; }
  // How many values each output of the OpDesc has (a list output may have several).
  std::span<const size_t> output_counts() const { return output_counts_; }

  std::vector<MetaTensor> results;

 private:
  const OpSchema& schema_;
  const std::vector<BoundArg>& args_;
  std::span<const size_t> output_counts_;
};

namespace internal {

template <typename T>
struct InferParam {  // attributes
  static decltype(auto) Get(InferMetaContext& context, size_t i) {
    WHERRY_CHECK(context.Param(i).attribute != nullptr, context.schema().name, ": attribute ", context.ParamDef(i).name,
                 " is not bound");
    return AttributeCast<std::decay_t<T>>(*context.Param(i).attribute);
  }
};
template <>
struct InferParam<const MetaTensor&> {
  static const MetaTensor& Get(InferMetaContext& context, size_t i) {
    WHERRY_CHECK(context.Param(i).tensors.size() == 1, context.schema().name, ": argument ", context.ParamDef(i).name,
                 " is not one tensor");
    return *context.Param(i).tensors[0];
  }
};
template <>
struct InferParam<const MetaTensor*> {
  static const MetaTensor* Get(InferMetaContext& context, size_t i) {
    return context.Param(i).tensors.empty() ? nullptr : context.Param(i).tensors[0];
  }
};
template <>
struct InferParam<const std::vector<const MetaTensor*>&> {
  static const std::vector<const MetaTensor*>& Get(InferMetaContext& context, size_t i) {
    return context.Param(i).tensors;
  }
};
template <>
struct InferParam<const SymIntArray&> {
  static SymIntArray Get(InferMetaContext& context, size_t i) {
    const BoundArg& arg = context.Param(i);
    if (arg.attribute != nullptr) return SymIntArray(AttributeCast<IntArray>(*arg.attribute));
    if (arg.tensors.empty()) return SymIntArray(IntArray());
    return SymIntArray(*arg.tensors[0]);
  }
};
template <>
struct InferParam<const SymScalar&> {
  static SymScalar Get(InferMetaContext& context, size_t i) {
    const BoundArg& arg = context.Param(i);
    if (arg.attribute != nullptr) return SymScalar(AttributeCast<Scalar>(*arg.attribute));
    if (arg.tensors.empty()) return SymScalar(Scalar());
    return SymScalar(*arg.tensors[0]);
  }
};

inline void StoreResults(InferMetaContext& context, MetaTensor result) { context.results.push_back(std::move(result)); }
inline void StoreResults(InferMetaContext& context, std::vector<MetaTensor> results) {
  context.results = std::move(results);
}

}  // namespace internal

template <auto Fn>
struct InferMetaImpl;
template <typename R, typename... A, R (*Fn)(A...)>
struct InferMetaImpl<Fn> {
  static void Call(InferMetaContext& context) { Call(context, std::index_sequence_for<A...>()); }

 private:
  template <size_t... I>
  static void Call(InferMetaContext& context, std::index_sequence<I...> /*indices*/) {
    WHERRY_CHECK(context.schema().infer_meta_params.size() == sizeof...(A), context.schema().name, ": InferMeta takes ",
                 sizeof...(A), " parameters, the schema gives ", context.schema().infer_meta_params.size());
    internal::StoreResults(context, Fn(internal::InferParam<A>::Get(context, I)...));
  }
};

}  // namespace wherry
