// Points, the four corners of a line of text, and rectangles that are turned.
#pragma once

#include <array>
#include <cmath>

namespace ocr {

// x to the right, y down, in pixels; pixel (0, 0) covers [0, 1) x [0, 1).
struct Point {
  float x = 0;
  float y = 0;

  friend Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
  friend Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
  friend Point operator*(Point a, float s) { return {a.x * s, a.y * s}; }
};

inline float Dot(Point a, Point b) { return a.x * b.x + a.y * b.y; }
inline float Cross(Point a, Point b) { return a.x * b.y - a.y * b.x; }
inline float Length(Point a) { return std::sqrt(Dot(a, a)); }

// The corners of a parallelogram that a line of text fills, as a reader sees them: top left, top right, bottom right,
// bottom left of the text, wherever these lie in the image.
using Quad = std::array<Point, 4>;

inline float Width(const Quad& quad) { return Length(quad[1] - quad[0]); }   // along the text
inline float Height(const Quad& quad) { return Length(quad[3] - quad[0]); }  // across it
inline Point Center(const Quad& quad) { return (quad[0] + quad[2]) * 0.5F; }
// Along the text; {1, 0} for an empty box.
inline Point Direction(const Quad& quad) {
  const float width = Width(quad);
  return width > 0 ? (quad[1] - quad[0]) * (1 / width) : Point{1, 0};
}
// The same area, the text turned by `quarters` quarter turns clockwise.
inline Quad Turned(const Quad& quad, size_t quarters) {
  Quad turned;
  for (size_t i = 0; i < 4; ++i) turned[i] = quad[(i + quarters) % 4];
  return turned;
}

struct RotatedRect {
  Point center;
  float width = 0;    // along `right`
  float height = 0;   // across it
  Point right{1, 0};  // of length 1

  Point down() const { return {-right.y, right.x}; }
  Quad Corners() const {
    const Point x = right * (width / 2);
    const Point y = down() * (height / 2);
    return {center - x - y, center + x - y, center + x + y, center - x + y};
  }
};

}  // namespace ocr
