#include "crop.h"

#include <algorithm>
#include <cmath>

namespace ocr {

namespace {

// The weights of the four pixels around a point `t` after the second of them: Keys' cubic with a = -0.75.
std::array<float, 4> CubicWeights(float t) {
  constexpr float kA = -0.75F;
  const auto near = [](float d) { return ((kA + 2) * d - (kA + 3)) * d * d + 1; };
  const auto far = [](float d) { return ((d - 5) * d + 8) * d * kA - 4 * kA; };
  return {far(1 + t), near(t), near(1 - t), far(2 - t)};
}

void Sample(const Image& image, Point at, uint8_t* rgb) {
  // Far outside everything is the edge, and int must hold the position.
  const float x = std::clamp(at.x - 0.5F, -2.0F, static_cast<float>(image.width) + 1);
  const float y = std::clamp(at.y - 0.5F, -2.0F, static_cast<float>(image.height) + 1);
  const auto left = static_cast<int>(std::floor(x));
  const auto top = static_cast<int>(std::floor(y));
  const std::array<float, 4> across = CubicWeights(x - static_cast<float>(left));
  const std::array<float, 4> down = CubicWeights(y - static_cast<float>(top));
  float sum[3] = {0, 0, 0};
  for (int j = 0; j < 4; ++j) {
    const int row = std::clamp(top - 1 + j, 0, image.height - 1);
    for (int i = 0; i < 4; ++i) {
      const uint8_t* from = image.At(std::clamp(left - 1 + i, 0, image.width - 1), row);
      const float weight = across[static_cast<size_t>(i)] * down[static_cast<size_t>(j)];
      for (int c = 0; c < 3; ++c) sum[c] += weight * static_cast<float>(from[c]);
    }
  }
  for (int c = 0; c < 3; ++c) rgb[c] = static_cast<uint8_t>(std::clamp(sum[c] + 0.5F, 0.0F, 255.0F));
}

}  // namespace

Image Crop(const Image& image, const Quad& quad, float bend) {
  Image out(std::max(static_cast<int>(std::lround(Width(quad))), 1),
            std::max(static_cast<int>(std::lround(Height(quad))), 1));
  const Point right = (quad[1] - quad[0]) * (1 / static_cast<float>(out.width));
  const Point down = (quad[3] - quad[0]) * (1 / static_cast<float>(out.height));
  for (int x = 0; x < out.width; ++x) {
    const float along = static_cast<float>(x) + 0.5F;
    const float part = along / static_cast<float>(out.width);
    const Point top = quad[0] + right * along + (quad[3] - quad[0]) * (bend * 4 * part * (1 - part));
    for (int y = 0; y < out.height; ++y) Sample(image, top + down * (static_cast<float>(y) + 0.5F), out.At(x, y));
  }
  return out;
}

}  // namespace ocr
