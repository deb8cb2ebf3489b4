// The smallest rectangle around points.
#pragma once

#include <vector>

#include "geometry.h"

namespace ocr {

// The corners of the points' convex hull, clockwise on the screen; fewer than three when they lie on a line.
std::vector<Point> ConvexHull(std::vector<Point> points);

// The rectangle of least area that holds all points; `right` is that of its two directions which is closer to the x
// axis, and points to larger x. Empty at the origin without points.
RotatedRect MinAreaRect(const std::vector<Point>& points);

}  // namespace ocr
