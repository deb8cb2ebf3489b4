#include "draw.h"

#include <algorithm>
#include <cmath>

namespace ocr {

namespace {

void DrawLine(Point from, Point to, int thickness, Color color, Image* image) {
  const int steps = std::max(static_cast<int>(std::ceil(Length(to - from))), 1);
  for (int i = 0; i <= steps; ++i) {
    const Point at = from + (to - from) * (static_cast<float>(i) / static_cast<float>(steps));
    const int left = static_cast<int>(std::floor(at.x)) - thickness / 2;
    const int top = static_cast<int>(std::floor(at.y)) - thickness / 2;
    for (int y = std::max(top, 0); y < std::min(top + thickness, image->height); ++y) {
      for (int x = std::max(left, 0); x < std::min(left + thickness, image->width); ++x) {
        uint8_t* pixel = image->At(x, y);
        pixel[0] = color.red;
        pixel[1] = color.green;
        pixel[2] = color.blue;
      }
    }
  }
}

}  // namespace

void DrawQuad(const Quad& quad, Color color, Image* image) {
  // One pixel in a small image; as visible in a large one.
  const int thickness = std::max(1, (image->width + image->height) / 1200);
  for (size_t i = 0; i < 4; ++i) DrawLine(quad[i], quad[(i + 1) % 4], i == 0 ? 2 * thickness : thickness, color, image);
}

}  // namespace ocr
