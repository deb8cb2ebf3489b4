// The activations of epilogues and elementwise programs, in double.
#pragma once

#include "op/epilogue.h"

namespace wherry::ref {

// The formulas of ActKind. NaN stays NaN.
double Activate(ActKind kind, double x, double a, double b);

}  // namespace wherry::ref
