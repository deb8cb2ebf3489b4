// One product as the per-instruction-set bodies see it, and how it is cut.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/cpu/gemm/gemm.h"
#include "kernels/cpu/tile_epilogue.h"

namespace wherry::cpu {

// The right-hand side by panels of 64 columns: packed, or a row-major matrix where it lies. The last panel is always
// padded to whole vectors, so a matrix whose n is not a multiple of 64 has that panel packed apart.
struct Panels {
  const float* data = nullptr;
  int64_t panel_stride = 0;  // floats from one panel to the next
  int64_t row_stride = kPanelWidth;
  int64_t group_stride = kPanelStep;  // floats from the first kPanelStep columns to the next
  const float* last = nullptr;        // the last panel
  int64_t last_row_stride = kPanelWidth;
  int64_t count = 0;

  static Panels Packed(const float* packed, int64_t k, int64_t n, PanelLayout layout = PanelLayout::kRows) {
    Panels panels;
    panels.data = packed;
    if (layout == PanelLayout::kGroups) {
      panels.row_stride = panels.last_row_stride = kPanelStep;
      panels.group_stride = k * kPanelStep;
    }
    panels.panel_stride = k * kPanelWidth;
    panels.count = PanelsOf(n);
    panels.last = packed + std::max<int64_t>(0, panels.count - 1) * panels.panel_stride;
    return panels;
  }
  // A panel in memory that is each of the n columns' in turn.
  static Panels OnePanel(const float* packed, int64_t k, int64_t n, PanelLayout layout) {
    Panels panels = Packed(packed, k, n, layout);
    panels.panel_stride = 0;
    panels.last = packed;
    return panels;
  }
};

struct GemmCall {
  MatrixView a;
  Panels b;
  float* c = nullptr;
  int64_t c_stride = 0;
  int64_t m = 0, n = 0, k = 0;
  const TileEpilogue* epilogue = nullptr;
  int64_t epilogue_row0 = 0;  // row 0 of c in the epilogue's numbering
};

// Cuts m rows into ceil(m / 6) tiles whose heights differ by at most one: one-row leftovers cost 2-3 % at m = 197.
struct RowTiles {
  static constexpr int64_t kMaxHeight = 6;
  explicit RowTiles(int64_t m) : count((m + kMaxHeight - 1) / kMaxHeight) {
    if (count > 0) {
      height = m / count;
      taller = m % count;
    }
  }
  int64_t Begin(int64_t tile) const { return tile * height + std::min(tile, taller); }

  int64_t count;
  int64_t height = 0;
  int64_t taller = 0;  // the first `taller` tiles have one row more
};

}  // namespace wherry::cpu
