// Which kernels fit a key, in which order, and what to say when none does: the rules behind KernelFactory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernel/kernel.h"

namespace wherry {

// Those of `kernels` (as listed by KernelFactory) that fit `key`, the one to take first in front: target (native, host,
// any), then what an open part of the key prefers (NCHW, f32), then priority, then kernels for exactly the key's type
// and layout.
std::vector<const Kernel*> MatchingKernels(const std::vector<const Kernel*>& kernels, const KernelKey& key);

// The first that accepts the problem (any, when it is null); null if none does.
const Kernel* FirstSupporting(const std::vector<const Kernel*>& matching, const KernelProblem* problem);

// "target is host, not opencl; type is f32, not f64", or "" when the kernel fits.
std::string KeyDifference(const Kernel& kernel, const KernelKey& key);

// The message of SelectKernelOrThrowError. `kernels` is not empty.
std::string ExplainNoKernel(std::string_view op, const std::vector<const Kernel*>& kernels, const KernelKey& key,
                            const KernelProblem* problem);

}  // namespace wherry
