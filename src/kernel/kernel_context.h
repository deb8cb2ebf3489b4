// KernelContext: the arguments of one kernel call, in the kernel's parameter order.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/device_context.h"
#include "kernel/kernel.h"
#include "op/attribute_cast.h"

namespace wherry {

// Filled once with EmplaceBack..., then run as often as wanted: the tensors it points to may get other data in between.
// Tensors, attributes and outputs are each numbered in the order they were added; a list is one entry. Does not own
// tensors. Not thread-safe.
class KernelContext {
 public:
  explicit KernelContext(DeviceContext* device) : device_(device) {}

  void EmplaceBackInput(const DenseTensor* tensor);  // null: absent
  void EmplaceBackInput(const std::shared_ptr<DenseTensor>& tensor) { EmplaceBackInput(tensor.get()); }
  void EmplaceBackInputs(std::span<const DenseTensor* const> tensors);
  void EmplaceBackAttr(Attribute attribute);
  // An IntArray or Scalar attribute that is read from this host tensor at every run.
  void EmplaceBackAttr(const DenseTensor* tensor, AttrType type);
  void EmplaceBackOutput(DenseTensor* tensor);  // null: not wanted
  void EmplaceBackOutput(const std::shared_ptr<DenseTensor>& tensor) { EmplaceBackOutput(tensor.get()); }
  void EmplaceBackOutputs(std::span<DenseTensor* const> tensors);

  size_t input_count() const { return inputs_.size(); }
  size_t output_count() const { return outputs_.size(); }
  const DenseTensor* Input(size_t i) const { return InputAt(i).empty() ? nullptr : InputAt(i)[0]; }
  std::span<const DenseTensor* const> InputAt(size_t i) const;
  DenseTensor* Output(size_t i) const { return OutputAt(i).empty() ? nullptr : OutputAt(i)[0]; }
  std::span<DenseTensor* const> OutputAt(size_t i) const;
  template <typename T>
  decltype(auto) AttrAt(size_t i) const {
    return AttributeCast<T>(AttributeAt(i));
  }
  const Attribute& AttributeAt(size_t i) const;
  size_t attr_count() const { return attributes_.size(); }
  // Re-reads the attributes that come from tensors. The runner calls it before each run of a kernel that has any.
  void RefreshTensorAttributes();

  DeviceContext* device() const { return device_; }
  template <typename Context>
  const Context& device_as() const {
    return static_cast<const Context&>(*device_);
  }
  void set_device(DeviceContext* device) { device_ = device; }

  // What the kernel planned; null when it has no Plan.
  template <typename Plan>
  const Plan& plan() const {
    return static_cast<const Plan&>(*plan_);
  }
  bool has_plan() const { return plan_ != nullptr; }
  // The answers to plan().packs, in order.
  const PackedWeight& Packed(size_t i) const { return *packed_[i]; }
  size_t packed_count() const { return packed_.size(); }
  void SetPlan(std::shared_ptr<const KernelPlan> plan, std::vector<std::shared_ptr<const PackedWeight>> packed);

 private:
  struct Range {
    size_t begin;
    size_t end;
  };
  struct TensorAttribute {
    size_t index;
    const DenseTensor* tensor;
    AttrType type;
  };

  DeviceContext* device_;
  std::vector<const DenseTensor*> input_tensors_;
  std::vector<Range> inputs_;
  std::vector<DenseTensor*> output_tensors_;
  std::vector<Range> outputs_;
  std::vector<Attribute> attributes_;
  std::vector<TensorAttribute> tensor_attributes_;
  std::shared_ptr<const KernelPlan> plan_;
  std::vector<std::shared_ptr<const PackedWeight>> packed_;
};

}  // namespace wherry
