// Layer and root-mean-square normalisation of contiguous rows.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"

namespace wherry::cpu {

// What both have: rows of `cols` floats (of none: the statistics are NaN), x in, y out (y may be x), variance + epsilon
// under the root.
//
// The gain (and bias) is one float per column; or, if affine_run is not 0, one for every run of affine_run columns (a
// channel), which divides the columns: run i of all rows takes element i % affine_count. A null pointer stands for ones
// (zeros).
struct NormRows {
  const float* x = nullptr;
  float* y = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  float epsilon = 1e-5f;
  const float* gain = nullptr;
  const float* bias = nullptr;
  int64_t affine_run = 0;
  int64_t affine_count = 1;
  // One float per row each, or null: the mean, the (biased) variance, and 1 / sqrt(variance + epsilon).
  float* mean = nullptr;
  float* variance = nullptr;
  float* inverse_deviation = nullptr;
};

// (x - mean) / sqrt(variance + epsilon) * gain + bias. Two passes with a correction of the mean: exact to rounding even
// if the mean is many deviations from zero. Thread-safe, allocates nothing; a null pool means on the caller alone.
void LayerNorm(const NormRows& norm, ThreadPool* pool);

// x / sqrt(mean(x^2) + epsilon) * gain + bias. `mean` and `variance` are not written.
void RmsNorm(const NormRows& norm, ThreadPool* pool);

}  // namespace wherry::cpu
