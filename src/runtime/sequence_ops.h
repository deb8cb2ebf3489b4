// The operators that take or give sequences.
#pragma once

#include <vector>

#include "kernel/invoke.h"

namespace wherry {

// Runs one. Results own their memory, as do the tensors of a sequence; it is the context's. Error(kInvalidArgument) for
// positions and tensors that do not fit.
DenseTensor RunSequenceOp(const OpSchema& schema, const std::vector<CallArg>& args, CpuContext* context);

}  // namespace wherry
