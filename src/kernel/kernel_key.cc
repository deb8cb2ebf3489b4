#include "kernel/kernel_key.h"

namespace wherry {

namespace {

// A device before the machine's own processor: data that is already there is not brought back.
int TargetPriority(Target target) {
  switch (target) {
    case Target::kCUDA: return 3;
    case Target::kOpenCL: return 2;
    case Target::kCustom: return 1;
    default: return 0;
  }
}

}  // namespace

void KernelKeySet::Add(const DenseTensor& tensor) {
  keys_.emplace_back(tensor.target(), tensor.dtype(), tensor.layout());
}

void KernelKeySet::Add(const Tensor& tensor) {
  if (tensor.defined()) Add(*tensor.impl());
}

void KernelKeySet::Add(const std::vector<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) Add(tensor);
}

KernelKey KernelKeySet::GetHighestPriorityKernelKey(bool promote) const {
  if (keys_.empty()) return {Target::kNative, DataType::kFloat, DataLayout::kNCHW};
  Target target = Target::kNative;
  DataType dtype = keys_.front().dtype();
  DataLayout layout = keys_.front().layout();
  for (const KernelKey& key : keys_) {
    if (TargetPriority(key.target()) > TargetPriority(target)) target = key.target();
    if (promote) dtype = PromoteTypes(dtype, key.dtype());
    if (key.layout() != layout) layout = DataLayout::kNCHW;
  }
  return {target, dtype, layout};
}

}  // namespace wherry
