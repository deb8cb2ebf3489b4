#include "runtime/binding.h"

#include "base/check.h"
#include "kernel/kernel_registry.h"
#include "kernel/key_rule.h"

namespace wherry {

KernelBinding BindKernel(const KernelProblem& problem, const std::vector<BoundArg>& args, const KernelPick& pick) {
  KernelBinding binding;
  const OpSchema& schema = problem.schema();
  const KernelFactory& factory = KernelFactory::Instance();
  if (pick.picked()) {
    const Kernel* kernel = factory.FindKernel(schema.kernel, pick.provider, pick.variant, pick.key);
    const Support support = kernel == nullptr ? Support::No("it is not registered here") : kernel->Supports(problem);
    if (support.ok) {
      binding.kernel = kernel;
      binding.reason = pick.reason.empty() ? "picked when the model was optimised" : pick.reason;
      return binding;
    }
    binding.note = StrCat("the picked kernel ", pick.provider, ":", schema.kernel,
                          pick.variant.empty() ? "" : ":" + pick.variant, " cannot be used: ", support.reason);
  }
  if (std::string_view(schema.name) == "io_copy") return binding;  // the device contexts do it
  const DataType dtype = KeyDataType(schema, args);
  if (dtype == DataType::kUndefined && factory.Has(schema.kernel)) return binding;  // found when the values are there
  // Within the pick's layout, so that the layout conversions around the op stay right.
  const KernelKey key = pick.picked() ? KernelKey(Target::kNative, pick.key.layout(), pick.key.dtype())
                                      : KernelKey(Target::kNative, DataLayout::kNCHW, dtype);
  binding.kernel = &factory.SelectKernelOrThrowError(schema.kernel, key, &problem);
  binding.reason = "the best registered for the key";
  return binding;
}

}  // namespace wherry
