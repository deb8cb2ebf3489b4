// Sums of floats in double.
#pragma once

#include <cstdint>

namespace wherry::cpu {

// to[i] += from[i] for the n elements; neither memory may overlap the other.
using AddWide = void (*)(const float* from, double* to, int64_t n);
// Of the instruction set of the thread that asks.
AddWide ActiveAddWide();

}  // namespace wherry::cpu
