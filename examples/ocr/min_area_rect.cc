#include "min_area_rect.h"

#include <algorithm>
#include <limits>

namespace ocr {

namespace {

// The rectangle around the points with one side along `right`.
RotatedRect RectAlong(Point right, const std::vector<Point>& points) {
  RotatedRect rect;
  rect.right = right;
  const Point down = rect.down();
  float low_x = std::numeric_limits<float>::max();
  float low_y = low_x;
  float high_x = -low_x;
  float high_y = -low_x;
  for (const Point& point : points) {
    low_x = std::min(low_x, Dot(point, right));
    high_x = std::max(high_x, Dot(point, right));
    low_y = std::min(low_y, Dot(point, down));
    high_y = std::max(high_y, Dot(point, down));
  }
  rect.width = high_x - low_x;
  rect.height = high_y - low_y;
  rect.center = right * ((low_x + high_x) / 2) + down * ((low_y + high_y) / 2);
  return rect;
}

// Of the four directions along the sides of a rectangle, the one closest to {1, 0}.
Point Rightwards(Point side) {
  if (std::abs(side.x) < std::abs(side.y)) side = {-side.y, side.x};
  return side.x < 0 ? side * -1.0F : side;
}

}  // namespace

std::vector<Point> ConvexHull(std::vector<Point> points) {
  // Andrew's monotone chain: the upper side from left to right, then the lower one back.
  std::sort(points.begin(), points.end(), [](Point a, Point b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
  points.erase(std::unique(points.begin(), points.end(), [](Point a, Point b) { return a.x == b.x && a.y == b.y; }),
               points.end());
  if (points.size() < 3) return points;
  std::vector<Point> hull;
  const auto extend = [&hull](Point point, size_t fixed) {
    while (hull.size() >= fixed + 2 &&
           Cross(hull[hull.size() - 1] - hull[hull.size() - 2], point - hull[hull.size() - 1]) <= 0) {
      hull.pop_back();
    }
    hull.push_back(point);
  };
  for (const Point& point : points) extend(point, 0);
  const size_t turn = hull.size() - 1;
  for (auto point = points.rbegin() + 1; point != points.rend(); ++point) extend(*point, turn);
  hull.pop_back();  // the first point again
  return hull;
}

RotatedRect MinAreaRect(const std::vector<Point>& points) {
  const std::vector<Point> hull = ConvexHull(points);
  if (hull.empty()) return {};
  RotatedRect best = RectAlong({1, 0}, hull);
  // One side of the smallest rectangle lies along a side of the hull.
  for (size_t i = 0; i < hull.size(); ++i) {
    const Point side = hull[(i + 1) % hull.size()] - hull[i];
    const float length = Length(side);
    if (length == 0) continue;
    const RotatedRect rect = RectAlong(Rightwards(side * (1 / length)), hull);
    if (rect.width * rect.height < best.width * best.height) best = rect;
  }
  return best;
}

}  // namespace ocr
