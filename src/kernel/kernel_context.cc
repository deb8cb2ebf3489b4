#include "kernel/kernel_context.h"

#include <utility>

#include "base/check.h"
#include "wherry/tensor.h"

namespace wherry {

namespace {

// A handle that does not own; made without allocating.
Tensor Borrow(const DenseTensor* tensor) {
  return Tensor(std::shared_ptr<DenseTensor>(std::shared_ptr<void>(), const_cast<DenseTensor*>(tensor)));
}

}  // namespace

void KernelContext::EmplaceBackInput(const DenseTensor* tensor) {
  inputs_.push_back({input_tensors_.size(), input_tensors_.size() + (tensor != nullptr ? 1 : 0)});
  if (tensor != nullptr) input_tensors_.push_back(tensor);
}

void KernelContext::EmplaceBackInputs(std::span<const DenseTensor* const> tensors) {
  inputs_.push_back({input_tensors_.size(), input_tensors_.size() + tensors.size()});
  input_tensors_.insert(input_tensors_.end(), tensors.begin(), tensors.end());
}

void KernelContext::EmplaceBackAttr(Attribute attribute) { attributes_.push_back(std::move(attribute)); }

void KernelContext::EmplaceBackAttr(const DenseTensor* tensor, AttrType type) {
  WHERRY_CHECK(type == AttrType::kIntArray || type == AttrType::kScalar, "attribute ", attributes_.size(), " of type ",
               ToString(type), " cannot come from a tensor");
  tensor_attributes_.push_back({attributes_.size(), tensor, type});
  attributes_.emplace_back();
}

void KernelContext::EmplaceBackOutput(DenseTensor* tensor) {
  outputs_.push_back({output_tensors_.size(), output_tensors_.size() + (tensor != nullptr ? 1 : 0)});
  if (tensor != nullptr) output_tensors_.push_back(tensor);
}

void KernelContext::EmplaceBackOutputs(std::span<DenseTensor* const> tensors) {
  outputs_.push_back({output_tensors_.size(), output_tensors_.size() + tensors.size()});
  output_tensors_.insert(output_tensors_.end(), tensors.begin(), tensors.end());
}

std::span<const DenseTensor* const> KernelContext::InputAt(size_t i) const {
  WHERRY_CHECK(i < inputs_.size(), "the kernel asks for input ", i, " of ", inputs_.size());
  return {input_tensors_.data() + inputs_[i].begin, input_tensors_.data() + inputs_[i].end};
}

std::span<DenseTensor* const> KernelContext::OutputAt(size_t i) const {
  WHERRY_CHECK(i < outputs_.size(), "the kernel asks for output ", i, " of ", outputs_.size());
  return {output_tensors_.data() + outputs_[i].begin, output_tensors_.data() + outputs_[i].end};
}

const Attribute& KernelContext::AttributeAt(size_t i) const {
  WHERRY_CHECK(i < attributes_.size(), "the kernel asks for attribute ", i, " of ", attributes_.size());
  return attributes_[i];
}

void KernelContext::RefreshTensorAttributes() {
  for (const TensorAttribute& source : tensor_attributes_) {
    const Tensor tensor = Borrow(source.tensor);
    if (source.type == AttrType::kScalar) {
      attributes_[source.index] = Scalar(tensor);
    } else {
      attributes_[source.index] = IntArray(tensor);
    }
  }
}

void KernelContext::SetPlan(std::shared_ptr<const KernelPlan> plan,
                            std::vector<std::shared_ptr<const PackedWeight>> packed) {
  WHERRY_CHECK(packed.size() == (plan ? plan->packs.size() : 0), "the plan wants ", plan ? plan->packs.size() : 0,
               " packed weights, got ", packed.size());
  plan_ = std::move(plan);
  packed_ = std::move(packed);
}

}  // namespace wherry
