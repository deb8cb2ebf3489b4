#pragma once

#include <cstdint>

namespace wherry::cpu {

// a / b rounded up, for any a and b > 0.
constexpr int64_t CeilDivide(int64_t a, int64_t b) { return a <= 0 ? -(-a / b) : (a + b - 1) / b; }

}  // namespace wherry::cpu
