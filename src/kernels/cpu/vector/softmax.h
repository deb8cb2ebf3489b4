// Softmax and log-softmax.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"

namespace wherry::cpu {

// x and y are [outer][axis][inner], contiguous; the softmax runs along axis. y may be x. A row that holds NaN or +inf,
// or nothing but -inf, becomes NaN, as the formula says. Zero sizes are no work. Thread-safe, allocates nothing; a null
// pool means on the caller alone; the number of threads does not change the result.
void Softmax(const float* x, float* y, int64_t outer, int64_t axis, int64_t inner, ThreadPool* pool);
void LogSoftmax(const float* x, float* y, int64_t outer, int64_t axis, int64_t inner, ThreadPool* pool);

}  // namespace wherry::cpu
