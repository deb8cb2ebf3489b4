// What the per-instruction-set bodies of Reduce look like from outside.
#pragma once

#include <cstdint>

namespace wherry::cpu {

// Columns are handed out in blocks of four cache lines.
inline constexpr int64_t kReduceColumns = 64;

struct ReduceBodies {
  // A contiguous run to one value.
  double (*run)(const float* x, int64_t n);
  // [outer][axis][inner] to [outer][inner], times scale: column blocks [begin, end) of outer * ceil(inner / 64).
  void (*column_blocks)(const float* x, float* y, int64_t axis, int64_t inner, float scale, int64_t begin, int64_t end);
};

}  // namespace wherry::cpu
