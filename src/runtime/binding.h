// Binding a kernel to an op when a program is loaded: the pick if it can be honoured, else the best there is.
#pragma once

#include <string>
#include <vector>

#include "ir/program.h"
#include "kernel/kernel.h"
#include "kernel/problem.h"

namespace wherry {

struct KernelBinding {
  const Kernel* kernel =
      nullptr;  // null: decided at run time (the type is not known yet), or executed by the runtime itself
  std::string reason;
  std::string note;  // why the pick was not honoured; empty when it was
};

// `args` are what the problem was made of. Error(kUnsupported) when there is no kernel.
KernelBinding BindKernel(const KernelProblem& problem, const std::vector<BoundArg>& args, const KernelPick& pick);

}  // namespace wherry
