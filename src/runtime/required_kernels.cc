#include "runtime/required_kernels.h"

#include <algorithm>
#include <set>

#include "base/strings.h"
#include "kernel/kernel_registry.h"

namespace wherry {

namespace {

bool IsBuiltin(const Kernel& kernel) {
  const auto builtin = BuiltinKernels();
  return std::any_of(builtin.begin(), builtin.end(), [&kernel](const KernelDescriptor* descriptor) {
    return kernel.op == descriptor->op && kernel.provider == descriptor->provider &&
           kernel.variant == descriptor->variant;
  });
}

// A kernel that the factory may give for the same key.
bool MayReplace(const Kernel& kernel, const Kernel& bound) {
  const bool same_type = kernel.key.dtype() == bound.key.dtype() || kernel.key.dtype() == DataType::kAny;
  const bool same_layout = kernel.key.layout() == bound.key.layout() || kernel.key.layout() == DataLayout::kAny;
  return same_type && same_layout && IsHostMemory(kernel.key.target()) == IsHostMemory(bound.key.target());
}

}  // namespace

std::string RequiredKernels(const Executable& executable) {
  std::set<std::string> ops;
  std::set<std::string> kernels;
  for (size_t i = 0; i < executable.program().blocks.size(); ++i) {
    for (const Instruction& instruction : executable.block(static_cast<int>(i)).instructions) {
      ops.insert(StrCat("op ", instruction.schema->name, "\n"));
      const Kernel* const bound = instruction.kernel;
      const bool stays = bound != nullptr && bound->supports == nullptr && IsBuiltin(*bound);
      if (stays) kernels.insert(StrCat("kernel ", bound->id(), "\n"));
      if (stays || instruction.schema->RunByRuntime()) continue;
      for (const Kernel* kernel : KernelFactory::Instance().Kernels(instruction.schema->kernel)) {
        if (IsBuiltin(*kernel) && (bound == nullptr || MayReplace(*kernel, *bound)))
          kernels.insert(StrCat("kernel ", kernel->id(), "\n"));
      }
    }
  }
  std::string text;
  for (const std::set<std::string>* lines : {&ops, &kernels}) {
    for (const std::string& line : *lines) text += line;
  }
  return text;
}

}  // namespace wherry
