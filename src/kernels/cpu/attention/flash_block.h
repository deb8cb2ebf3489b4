// What the bodies of attention share: a block of keys and what queries keep from one block to the next.
#pragma once

#include <cstdint>

#include "kernels/cpu/attention/flash_attention.h"

namespace wherry::cpu {

// Keys of a block: their panels and those of their values stay in L2, the scores of a tile of queries in L1.
inline constexpr int64_t kFlashKeyBlock = 256;

// Keys [k0, k0 + n).
struct FlashBlock {
  int64_t k0 = 0;
  int64_t n = 0;
  float* keys = nullptr;    // packed
  float* values = nullptr;  // packed
  float* scores = nullptr;  // kFlashKeyBlock for each query of a tile
};

// What a query has of the keys so far.
struct Running {
  float maximum;
  float sum;
};

// What a sum of weighted values is multiplied by at last.
inline float LastFactor(const FlashHead& head, float sum) {
  return sum == 0.0f && head.zero_masked_rows ? 0.0f : 1.0f / sum;
}

}  // namespace wherry::cpu
