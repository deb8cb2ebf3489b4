// The schema's default values, parsed once.
#pragma once

#include <vector>

#include "op/op_schema.h"

namespace wherry {

// One entry per argument: the default of an attribute that has one, else monostate. Thread-safe; the reference stays
// valid.
const std::vector<Attribute>& DefaultAttributes(const OpSchema& schema);

}  // namespace wherry
