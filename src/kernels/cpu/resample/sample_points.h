// Weighted sums of elements at any places of f32 planes, the same places of each.
#pragma once

#include <cstdint>

namespace wherry::cpu {

// Point p takes the elements index[t * stride + p] of a plane (-1: nothing) times weight[t * stride + p], for t < taps.
struct PointTaps {
  int64_t points;
  int64_t taps;
  int64_t stride;
  const int32_t* index;
  const float* weight;
};

// to[c * to_stride + p] = the sum at point p of plane c, for c < channels.
void SamplePoints(const PointTaps& taps, const float* planes, int64_t plane_size, int64_t channels, float* to,
                  int64_t to_stride);

}  // namespace wherry::cpu
