// Shapes that a user gives for a model's inputs.
#pragma once

#include <map>
#include <string>

#include "ir/program.h"

namespace wherry {

// Error(kNotFound) when a name is none of an input.
void CheckInputNames(const Program& program, const std::map<std::string, Shape>& shapes);

// As CxxConfig::set_input_shapes says: the program's inputs get these dimensions, and what has the same symbol its
// number.
void FixInputShapes(const std::map<std::string, Shape>& shapes, Program* program);

}  // namespace wherry
