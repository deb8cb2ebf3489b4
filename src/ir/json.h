// A program as JSON, for tools: {"blocks": [{"inputs", "outputs", "ops": [...]}], "weights": [...], "metadata"}. Weight
// data is left out.
#pragma once

#include <string>

#include "ir/program.h"

namespace wherry {

std::string ToJson(const Program& program);

}  // namespace wherry
