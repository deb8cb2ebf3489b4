#include "resize.h"

#include <algorithm>
#include <cmath>

namespace ocr {

namespace {

// What one pixel of the result is made of: weights[i] of pixel first + i.
struct Taps {
  int first = 0;
  std::vector<float> weights;
};

// A triangle filter along one axis. Pixel i covers [i, i + 1).
std::vector<Taps> MakeTaps(int from, int to) {
  const double scale = static_cast<double>(from) / to;
  const double radius = std::max(scale, 1.0);
  std::vector<Taps> all(static_cast<size_t>(to));
  for (int i = 0; i < to; ++i) {
    const double center = (i + 0.5) * scale - 0.5;
    Taps& taps = all[static_cast<size_t>(i)];
    taps.first = std::clamp(static_cast<int>(std::ceil(center - radius)), 0, from - 1);
    const int last = std::clamp(static_cast<int>(std::floor(center + radius)), 0, from - 1);
    double sum = 0;
    for (int x = taps.first; x <= last; ++x) {
      const double weight = std::max(1 - std::abs(x - center) / radius, 0.0);
      taps.weights.push_back(static_cast<float>(weight));
      sum += weight;
    }
    if (sum <= 0) taps.weights.assign(taps.weights.size(), 1), sum = static_cast<double>(taps.weights.size());
    for (float& weight : taps.weights) weight = static_cast<float>(weight / sum);
  }
  return all;
}

}  // namespace

Image Resize(const Image& image, int width, int height) {
  if (width == image.width && height == image.height) return image;
  const std::vector<Taps> columns = MakeTaps(image.width, width);
  const std::vector<Taps> rows = MakeTaps(image.height, height);
  Image out(width, height);
  std::vector<float> mixed(static_cast<size_t>(image.width) * 3);  // the rows that one row of the result is made of
  for (int y = 0; y < height; ++y) {
    const Taps& row = rows[static_cast<size_t>(y)];
    std::fill(mixed.begin(), mixed.end(), 0.0F);
    for (size_t i = 0; i < row.weights.size(); ++i) {
      const uint8_t* from = image.At(0, row.first + static_cast<int>(i));
      for (size_t x = 0; x < mixed.size(); ++x) mixed[x] += row.weights[i] * static_cast<float>(from[x]);
    }
    uint8_t* to = out.At(0, y);
    for (const Taps& column : columns) {
      float sum[3] = {0.5F, 0.5F, 0.5F};
      const float* from = mixed.data() + static_cast<size_t>(column.first) * 3;
      for (const float weight : column.weights) {
        for (float& channel : sum) channel += weight * *from++;
      }
      for (const float channel : sum) *to++ = static_cast<uint8_t>(channel);
    }
  }
  return out;
}

}  // namespace ocr
