// Running an operator whose arguments were put into a KernelContext by hand, as the sources do.
#pragma once

#include <string_view>

#include "kernel/kernel_context.h"

namespace wherry {

// Runs the best kernel for `key` of those registered as `kernel_name` that accept what is in `context`: all inputs,
// attributes and outputs in the kernel's parameter order, outputs with their shape. Makes the kernel's plan, never
// packs. Error(kUnsupported) as SelectKernelOrThrowError; Error(kInvalidArgument) when the context does not hold what
// the operator's schema says.
void CallByContext(std::string_view kernel_name, const KernelKey& key, KernelContext* context);

}  // namespace wherry
