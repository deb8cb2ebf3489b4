// Finding the few elements of many that lie beyond a bound.
#pragma once

#include <cstdint>

namespace wherry::cpu {

// How many of the n elements of x can be skipped because each is at most `bound` (at least, unless `above`); NaN is
// beyond every bound. The answer is n or a multiple of 64 below the first one beyond.
int64_t SkipToBeyond(const float* x, int64_t n, float bound, bool above);

}  // namespace wherry::cpu
