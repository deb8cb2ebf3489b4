// A program as an SVG picture, laid out without any other program; one picture beside the other for its blocks. Light
// and dark as the viewer prefers.
#pragma once

#include <string>

#include "ir/program.h"

namespace wherry {

std::string ToSvg(const Program& program);

}  // namespace wherry
