// Weighted sums and maxima of pixels of f32 images whose channels lie together.
#pragma once

#include <cstdint>

namespace wherry::cpu {

struct WeightedIndex {
  int32_t index;
  float weight;
};

// The crossing points of some rows and columns of an image. Strides in floats.
struct PixelCross {
  const WeightedIndex* rows;
  int64_t row_count;
  const WeightedIndex* columns;
  int64_t column_count;
};

// to[c] = scale * the sum of the crossing points' channel c, each times the weights of its row and column.
void BlendPixels(const PixelCross& cross, const float* image, int64_t row_stride, int64_t pixel_stride,
                 int64_t channels, float scale, float* to);

// to[c] = the largest of the crossing points' channel c, each times the weights of its row and column, and of 0 if
// `with_zero`; NaN if one is.
void LargestPixels(const PixelCross& cross, const float* image, int64_t row_stride, int64_t pixel_stride,
                   int64_t channels, bool with_zero, float* to);

}  // namespace wherry::cpu
