#include "bend.h"

#include <algorithm>
#include <utility>

namespace ocr {

namespace {

// A cell's centre: along the rectangle, from -1 to 1, and across it, in cells from its middle.
std::pair<float, float> Position(const Cell& cell, const RotatedRect& rect) {
  const Point offset = Point{static_cast<float>(cell.x) + 0.5F, static_cast<float>(cell.y) + 0.5F} - rect.center;
  return {Dot(offset, rect.right) / (rect.width / 2), Dot(offset, rect.down())};
}

}  // namespace

BentStrip FitBentStrip(const Region& region, const RotatedRect& rect) {
  // Least squares: t = a + b s + c s^2, where s runs from -1 to 1 along the rectangle and t is across it. `m` are the
  // means of s, s^2, ..., `v` those of t, t s, t s^2.
  double m[5] = {0, 0, 0, 0, 0};
  double v[3] = {0, 0, 0};
  for (const Cell& cell : region.cells) {
    const auto [s, t] = Position(cell, rect);
    double power = 1;
    for (int i = 0; i < 5; ++i, power *= static_cast<double>(s)) {
      m[i] += power;
      if (i < 3) v[i] += power * static_cast<double>(t);
    }
  }
  // Cramer's rule.
  const auto determinant = [](const double(&x)[3], const double(&y)[3], const double(&z)[3]) {
    return x[0] * (y[1] * z[2] - y[2] * z[1]) - x[1] * (y[0] * z[2] - y[2] * z[0]) + x[2] * (y[0] * z[1] - y[1] * z[0]);
  };
  const double columns[3][3] = {{m[0], m[1], m[2]}, {m[1], m[2], m[3]}, {m[2], m[3], m[4]}};
  const double all = determinant(columns[0], columns[1], columns[2]);
  if (!(all > 0)) return {rect, 0};  // all cells in a line across
  const auto a = static_cast<float>(determinant(v, columns[1], columns[2]) / all);
  const auto b = static_cast<float>(determinant(columns[0], v, columns[2]) / all);
  const auto c = static_cast<float>(determinant(columns[0], columns[1], v) / all);

  const Point half = rect.right * (rect.width / 2) + rect.down() * b;  // from the middle of the chord to its right end
  // How far the cells reach on both sides of the curve.
  float low = 0;
  float high = 0;
  for (const Cell& cell : region.cells) {
    const auto [along, across] = Position(cell, rect);
    const float offset = across - (a + along * (b + along * c));
    low = std::min(low, offset - 0.5F);
    high = std::max(high, offset + 0.5F);
  }
  BentStrip strip;
  strip.rect.center = rect.center + rect.down() * (a + c + (low + high) / 2);
  strip.rect.width = 2 * Length(half);
  strip.rect.right = half * (2 / strip.rect.width);
  strip.rect.height = high - low;
  strip.bend = -c / strip.rect.height;
  return strip;
}

}  // namespace ocr
