// The rows of a volume that a row of windows meets.
#pragma once

#include <cstdint>

namespace wherry::cpu {

// `outer` times `inner` rows, steps in elements.
struct RowGrid {
  const float* first;
  int64_t outer, outer_step;
  int64_t inner, inner_step;
};

}  // namespace wherry::cpu
