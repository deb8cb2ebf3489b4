// InferMeta for operators in blocks of control flow.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "op/op_schema.h"

namespace wherry {

// InferMeta for an operator that may never run with these arguments: where they contradict each other, what it gives
// for arguments of which only the types are known. Whoever runs it gets the error. Errors: those of InferMeta where the
// types are wrong already.
std::vector<std::vector<MetaTensor>> InferMetaInBlock(const OpSchema& schema, const std::vector<BoundArg>& args,
                                                      std::span<const size_t> output_counts);

}  // namespace wherry
