// The one thing core needs from above: moving a tensor to or from a device takes that device's context, which kernel/
// makes.
#pragma once

#include "core/dense_tensor.h"
#include "wherry/types.h"

namespace wherry {

// A copy of `tensor` in the memory of `target`, in plain layout; one of the two is a device. Error(kUnavailable) that
// says what is missing when there is no such device. Declared here for Tensor::CopyTo, defined in
// kernel/tensor_copy.cc.
DenseTensor CopyAcrossDevices(const DenseTensor& tensor, Target target);

// `tensor` in host memory and plain order: itself when it is that already, else a copy.
DenseTensor ToPlainHost(const DenseTensor& tensor);

}  // namespace wherry
