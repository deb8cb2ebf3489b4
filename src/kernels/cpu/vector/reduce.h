// Sums, means, products and extremes along one (merged) axis.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"

namespace wherry::cpu {

enum class ReduceKind : uint8_t {
  kSum,   // of nothing: 0
  kMean,  // of nothing: NaN
  kMax,   // NaN if there is one; of nothing: -inf
  kMin,   // NaN if there is one; of nothing: inf
  kProd,  // of nothing: 1
};

// x is [outer][axis][inner], y is [outer][inner], both contiguous and apart. Sums are taken in blocks, so that the
// error does not grow with the length. Thread-safe, allocates nothing; a null pool means on the caller alone; the
// number of threads does not change the result.
void Reduce(ReduceKind kind, const float* x, float* y, int64_t outer, int64_t axis, int64_t inner, ThreadPool* pool);

}  // namespace wherry::cpu
