// What a slim build has to keep for a program.
#pragma once

#include <string>

#include "runtime/executable.h"

namespace wherry {

// The program's operators and kernels, as codegen/slim.py reads them: "op conv2d", "kernel cpu:conv2d:auto", a line
// each, sorted. With the kernel that an op is bound to go those that may take its place: where it may refuse a shape,
// where it comes from a plug-in, and where the type is known only when it runs.
std::string RequiredKernels(const Executable& executable);

}  // namespace wherry
