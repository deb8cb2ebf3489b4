// Boxes and their overlap, for the kernels of detection.
#pragma once

#include <algorithm>

namespace wherry::ref {

// From (x1, y1) to (x2, y2).
struct Box {
  double x1;
  double y1;
  double x2;
  double y2;
};

// `extra` is 1 where the pixels at the right and bottom ends belong to a box, else 0.
inline double BoxArea(const Box& box, double extra) {
  return box.x2 < box.x1 || box.y2 < box.y1 ? 0.0 : (box.x2 - box.x1 + extra) * (box.y2 - box.y1 + extra);
}

// The intersection of two boxes over their union.
inline double BoxOverlap(const Box& a, const Box& b, double extra) {
  if (b.x1 > a.x2 || b.x2 < a.x1 || b.y1 > a.y2 || b.y2 < a.y1) return 0.0;
  const double width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1) + extra;
  const double height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1) + extra;
  const double shared = width * height;
  const double all = BoxArea(a, extra) + BoxArea(b, extra) - shared;
  return all > 0.0 ? shared / all : 0.0;
}

}  // namespace wherry::ref
