// Finding a kernel key from an API function's arguments, as the sources do:
//   auto key_set = ParseKernelKeyByInputArgs(x, y);
//   KernelKey key = key_set.GetHighestPriorityKernelKey();
#pragma once

#include <vector>

#include "core/dense_tensor.h"
#include "core/promote.h"
#include "wherry/tensor.h"
#include "wherry/types.h"

namespace wherry {

// What the tensor arguments of one call have in common and where they differ.
class KernelKeySet {
 public:
  void Add(const DenseTensor& tensor);
  void Add(const Tensor& tensor);
  void Add(const std::vector<Tensor>& tensors);

  // Target: the highest of those present (CUDA, OpenCL, custom, the machine's own; host memory counts as the machine's
  // own). Type: that of the first tensor, or with `promote` the promotion of all. Layout: that of the first tensor when
  // all agree, else kNCHW. No tensors: the machine's own target, f32, NCHW.
  KernelKey GetHighestPriorityKernelKey(bool promote = false) const;

 private:
  std::vector<KernelKey> keys_;
};

template <typename... Args>
KernelKeySet ParseKernelKeyByInputArgs(const Args&... args) {
  KernelKeySet set;
  (set.Add(args), ...);
  return set;
}

}  // namespace wherry
