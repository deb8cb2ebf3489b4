// Which elements grid_sample takes along an axis of its image, with which weights. Shared by its kernels.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace wherry {

enum class GridMode : uint8_t { kNearest, kLinear, kCubic };
enum class GridPadding : uint8_t { kZeros, kBorder, kReflection };

// The attributes of grid_sample.
struct GridRule {
  GridMode mode;
  GridPadding padding;
  bool align_corners;

  // What each result takes along each axis.
  int taps() const { return mode == GridMode::kNearest ? 1 : mode == GridMode::kLinear ? 2 : 4; }
};
GridRule ParseGridRule(const std::string& mode, const std::string& padding, bool align_corners);

struct GridTaps {
  int count;
  std::array<int64_t, 4> element;  // -1: nothing
  std::array<double, 4> weight;
};

// At a coordinate of the grid along an axis of `extent` > 0 elements.
GridTaps GridTapsAt(const GridRule& rule, double coordinate, int64_t extent);

}  // namespace wherry
