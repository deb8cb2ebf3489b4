// Group normalisation of images whose channels lie last.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"

namespace wherry::cpu {

// Strides in floats; what lies between the channels of two pixels is neither read nor written. y may be x.
struct NormPixels {
  const float* x = nullptr;
  float* y = nullptr;
  int64_t pixels = 0;
  int64_t channels = 0;
  int64_t groups = 1;  // of neighbouring channels
  int64_t x_stride = 0;
  int64_t y_stride = 0;
  float epsilon = 1e-5f;
  const float* gain = nullptr;  // per channel; null: ones
  const float* bias = nullptr;  // null: zeros
};

// Floats of scratch.
inline int64_t NormPixelsScratch(int64_t channels) { return 4 * channels; }

// Each group of one image to mean 0 and variance 1, times gain plus bias. As exact as LayerNorm. Thread-safe, allocates
// nothing; a null pool means on the caller alone.
void NormalizePixels(const NormPixels& norm, float* scratch, ThreadPool* pool);

}  // namespace wherry::cpu
