// The element type in a kernel's key, by the schema's data_type rule, from types alone.
#pragma once

#include <vector>

#include "op/op_schema.h"

namespace wherry {

// kUndefined when it is not known. Without a rule: the first tensor's, or with `promote` the promotion of all; without
// tensors f32.
DataType KeyDataType(const OpSchema& schema, const std::vector<BoundArg>& args);

}  // namespace wherry
