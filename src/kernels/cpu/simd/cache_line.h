#pragma once

#include <cstdint>

namespace wherry::cpu {

inline constexpr int64_t kLineFloats = 16;  // of a cache line

}  // namespace wherry::cpu
