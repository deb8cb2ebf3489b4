// How a transposed convolution's weight is cut into packed products: by groups, blocks of output channels and rows of
// the kernel. Depends on the weight only, so that images of every size share it.
#pragma once

#include <cstdint>

#include "kernels/cpu/conv/ceil_divide.h"
#include "kernels/cpu/conv/transposed.h"
#include "kernels/cpu/simd/cache_line.h"

namespace wherry::cpu {

constexpr int64_t RoundUp(int64_t a, int64_t b) { return CeilDivide(a, b) * b; }

// Output channels of a block of a group (depthwise: of all groups); the last one may have fewer.
int64_t TransposedChannelBlock(const TransposedWeightShape& shape);
// Kernel rows that share a product: one, or all where that makes a vector of columns.
int64_t TransposedTapRows(const TransposedWeightShape& shape);

struct TransposedBlock {
  int64_t group;
  int64_t first;  // channel of the group
  int64_t channels;
  int64_t packed;  // where its weight begins
};
int64_t TransposedBlockCount(const TransposedWeightShape& shape);
TransposedBlock TransposedBlockAt(const TransposedWeightShape& shape, int64_t index);

}  // namespace wherry::cpu
