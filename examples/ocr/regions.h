// Connected regions of a map of probabilities.
#pragma once

#include <cstddef>
#include <vector>

#include "geometry.h"

namespace ocr {

// A view of height x width probabilities, rows from the top.
struct ProbabilityMap {
  const float* data = nullptr;
  int width = 0;
  int height = 0;

  float At(int x, int y) const {
    return data[static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)];
  }
};

struct Cell {
  int x = 0;
  int y = 0;
};

// Cells that touch each other, also at corners.
struct Region {
  std::vector<Cell> cells;

  // The corners of each row's first and last cell: the region's convex hull is theirs.
  std::vector<Point> Outline() const;
};

// The regions of cells above `threshold`, from the top.
std::vector<Region> FindRegions(const ProbabilityMap& map, float threshold);

float Mean(const ProbabilityMap& map, const Region& region);
// The mean over the cells whose centre lies in the rectangle; 0 if there is none.
float MeanInside(const ProbabilityMap& map, const RotatedRect& rect);

}  // namespace ocr
