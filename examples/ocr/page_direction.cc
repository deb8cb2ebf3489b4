#include "page_direction.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ocr {

Point PageDirection(const std::vector<Quad>& quads) {
  if (quads.empty()) return {1, 0};
  // As offsets to the longest line, so that it does not matter where a circle begins.
  const auto longest =
      std::max_element(quads.begin(), quads.end(), [](const Quad& a, const Quad& b) { return Width(a) < Width(b); });
  const Point base = Direction(*longest);
  std::vector<std::pair<float, float>> angles;  // and weights
  float total = 0;
  for (const Quad& quad : quads) {
    const Point direction = Direction(quad);
    angles.emplace_back(std::atan2(Cross(base, direction), Dot(base, direction)), Width(quad));
    total += Width(quad);
  }
  std::sort(angles.begin(), angles.end());
  float seen = 0;
  float angle = 0;
  for (const auto& [offset, weight] : angles) {
    angle = offset;
    seen += weight;
    if (seen * 2 >= total) break;
  }
  return base * std::cos(angle) + Point{-base.y, base.x} * std::sin(angle);
}

}  // namespace ocr
