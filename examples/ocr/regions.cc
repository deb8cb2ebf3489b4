#include "regions.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace ocr {

namespace {

// Narrows [low, high] to the x for which |slope * x + offset| <= half.
void Clip(float slope, float offset, float half, float* low, float* high) {
  if (std::abs(slope) < 1e-6F) {
    if (std::abs(offset) > half) *high = *low - 1;
    return;
  }
  const float a = (-half - offset) / slope;
  const float b = (half - offset) / slope;
  *low = std::max(*low, std::min(a, b));
  *high = std::min(*high, std::max(a, b));
}

}  // namespace

std::vector<Point> Region::Outline() const {
  std::map<int, std::pair<int, int>> rows;  // the first and the last cell of each
  for (const Cell& cell : cells) {
    auto& [first, last] = rows.try_emplace(cell.y, cell.x, cell.x).first->second;
    first = std::min(first, cell.x);
    last = std::max(last, cell.x);
  }
  std::vector<Point> points;
  for (const auto& [row, columns] : rows) {
    for (const int x : {columns.first, columns.second + 1}) {
      for (const int y : {row, row + 1}) points.push_back({static_cast<float>(x), static_cast<float>(y)});
    }
  }
  return points;
}

std::vector<Region> FindRegions(const ProbabilityMap& map, float threshold) {
  const auto index = [&map](int x, int y) {
    return static_cast<size_t>(y) * static_cast<size_t>(map.width) + static_cast<size_t>(x);
  };
  std::vector<uint8_t> open(index(0, map.height));  // above the threshold, and in no region yet
  for (size_t i = 0; i < open.size(); ++i) open[i] = map.data[i] > threshold ? 1 : 0;

  std::vector<Region> regions;
  for (int y = 0; y < map.height; ++y) {
    for (int x = 0; x < map.width; ++x) {
      if (open[index(x, y)] == 0) continue;
      open[index(x, y)] = 0;
      Region region;
      region.cells.push_back({x, y});
      for (size_t i = 0; i < region.cells.size(); ++i) {  // grows while it is gone through
        const Cell cell = region.cells[i];
        for (int near_y = std::max(cell.y - 1, 0); near_y <= std::min(cell.y + 1, map.height - 1); ++near_y) {
          for (int near_x = std::max(cell.x - 1, 0); near_x <= std::min(cell.x + 1, map.width - 1); ++near_x) {
            if (open[index(near_x, near_y)] == 0) continue;
            open[index(near_x, near_y)] = 0;
            region.cells.push_back({near_x, near_y});
          }
        }
      }
      regions.push_back(std::move(region));
    }
  }
  return regions;
}

float Mean(const ProbabilityMap& map, const Region& region) {
  double sum = 0;
  for (const Cell& cell : region.cells) sum += static_cast<double>(map.At(cell.x, cell.y));
  return static_cast<float>(sum / static_cast<double>(region.cells.size()));
}

float MeanInside(const ProbabilityMap& map, const RotatedRect& rect) {
  const Point down = rect.down();
  const float reach = (std::abs(rect.right.y) * rect.width + std::abs(down.y) * rect.height) / 2;
  const int first_row = std::max(static_cast<int>(std::floor(rect.center.y - reach)), 0);
  const int last_row = std::min(static_cast<int>(std::ceil(rect.center.y + reach)), map.height - 1);
  double sum = 0;
  int64_t count = 0;
  for (int y = first_row; y <= last_row; ++y) {
    // A row's cells x for which the centre (x + 0.5, y + 0.5) lies between both pairs of sides.
    const float dy = static_cast<float>(y) + 0.5F - rect.center.y;
    const float dx = 0.5F - rect.center.x;
    float low = 0;
    auto high = static_cast<float>(map.width - 1);
    Clip(rect.right.x, rect.right.x * dx + rect.right.y * dy, rect.width / 2, &low, &high);
    Clip(down.x, down.x * dx + down.y * dy, rect.height / 2, &low, &high);
    for (int x = static_cast<int>(std::ceil(low)); x <= static_cast<int>(std::floor(high)); ++x) {
      sum += static_cast<double>(map.At(x, y));
      ++count;
    }
  }
  return count == 0 ? 0 : static_cast<float>(sum / static_cast<double>(count));
}

}  // namespace ocr
