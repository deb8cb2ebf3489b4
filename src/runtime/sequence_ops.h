// The operators that take or give sequences.
#pragma once

#include <vector>

#include "kernel/invoke.h"

namespace wherry {

// Runs one. Results own their memory, as do the tensors of a sequence. Error(kInvalidArgument) for positions and
// tensors that do not fit; Error(kResourceExhausted) when the tensors of a resulting sequence take more than
// `memory_limit` bytes (0: none).
DenseTensor RunSequenceOp(const OpSchema& schema, const std::vector<CallArg>& args, CpuContext* context,
                          size_t memory_limit);

}  // namespace wherry
