// The packed form of a dense weight: panels of 64 output channels, in the layout that WeightLayout() gives.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/cpu/gemm/gemm.h"

namespace wherry::cpu {

// A panel is depth x width floats. Every panel is kPanelWidth wide but the last, whose width is what is left rounded up
// to kPanelStep (zeros fill it).
inline int64_t PanelCount(int64_t columns) { return (columns + kPanelWidth - 1) / kPanelWidth; }
inline int64_t PanelWidth(int64_t columns, int64_t panel) {
  const int64_t left = columns - panel * kPanelWidth;
  return std::min(kPanelWidth, (left + kPanelStep - 1) / kPanelStep * kPanelStep);
}
// Columns of all panels of a matrix of `columns` columns.
inline int64_t PaddedColumns(int64_t columns) { return (columns + kPanelStep - 1) / kPanelStep * kPanelStep; }

// Floats from a panel's beginning to a column's, and from one of its rows to the next.
constexpr int64_t PanelColumn(PanelLayout layout, int64_t depth, int64_t column) {
  if (layout == PanelLayout::kRows) return column;
  return column / kPanelStep * kPanelStep * depth + column % kPanelStep;
}
constexpr int64_t PanelRow(PanelLayout layout, int64_t width) {
  return layout == PanelLayout::kRows ? width : kPanelStep;
}

// Splits rows into the fewest tiles of at most max_height whose heights differ by at most one: a leftover tile of one
// row costs 2-3 % of a product with 197 rows.
struct BalancedTiles {
  BalancedTiles(int64_t rows, int64_t max_height)
      : count((rows + max_height - 1) / max_height),
        height(count > 0 ? rows / count : 0),
        taller(count > 0 ? rows % count : 0) {}

  int64_t First(int64_t tile) const { return tile * height + std::min(tile, taller); }
  int64_t Height(int64_t tile) const { return height + (tile < taller ? 1 : 0); }

  int64_t count;
  int64_t height;
  int64_t taller;  // this many tiles, the first ones, have one row more
};

// The depth of a product as a grid of runs: each run is `length` consecutive floats of a row and as many consecutive
// rows of the panel. offset: how far a step moves in the row, depth: how far in the panel.
struct RunGrid {
  int64_t outer_count = 1;
  int64_t inner_count = 1;
  int64_t length = 0;
  int64_t outer_offset = 0;
  int64_t inner_offset = 0;
  int64_t outer_depth = 0;
  int64_t inner_depth = 0;
};

}  // namespace wherry::cpu
