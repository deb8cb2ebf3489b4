// The GEMM micro-kernel: a tile of up to 6 rows and one vector group of a panel, the whole of K in registers.
// Per-instruction-set header: the guard toggles.
#if defined(WHERRY_KERNELS_CPU_GEMM_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WHERRY_KERNELS_CPU_GEMM_TILE_INL_H_
#undef WHERRY_KERNELS_CPU_GEMM_TILE_INL_H_
#else
#define WHERRY_KERNELS_CPU_GEMM_TILE_INL_H_
#endif

#include "kernels/cpu/gemm/gemm_call.h"
#include "kernels/cpu/gemm/layout-inl.h"
#include "kernels/cpu/gemm/read_ahead.h"
#include "kernels/cpu/tile_epilogue-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {

// Vectors side by side in a tile of so many rows. AVX-512 and ARM have 32 registers: 6 x 4 accumulators, 4 of B, a
// broadcast. The others have 16: 6 x 2, 2, and a broadcast. Measured against 8x48, 8x32, 12x32, 14x32 and 28x16
// (AVX-512) and 4x24, 3x32 (AVX2): never behind, and its few rows do not alias in L1 when the row stride is a power of
// two. One or two rows are bound by the memory that B comes from, so they take wide tiles, which read it in order: at
// 1x768x3072 and AVX2, quarter panels ran at 0.7 of oneDNN.
constexpr int TileVectors(int64_t rows) {
  if (kLanes == 16) return 4;
  return rows == 1 ? 8 : rows == 2 || kRegisters == 32 ? 4 : 2;
}

// Vectors in kPanelStep columns.
inline constexpr int kStepVectors = static_cast<int>(kPanelStep / kLanes);

// Rows [row0, row0 + MR) times the NV * kLanes columns of b (rows of b are b_stride floats apart, kPanelStep columns
// the panels' group_stride), stored at column col.
template <int MR, int NV>
HWY_NOINLINE void GemmTile(const GemmCall& call, const float* b, int64_t b_stride, int64_t row0, int64_t col,
                           int64_t cols, const TileAhead* asked) {
  const StridedRows rows{call.c, call.c_stride, row0, call.epilogue_row0};
  ReadAhead weights;
  ReadAhead next_rows;
  if (asked != nullptr) {
    weights = asked->weights;
    next_rows = asked->rows;
    for (int r = 0; r < MR; ++r) AskToWrite(rows.Out(r) + col, cols);
  }
  // Rows that are whole need no register for a constant. (An unpacked matrix has rows in either layout.)
  const int64_t group = kWeightLayout == PanelLayout::kRows ? kPanelStep : call.b.group_stride;
  FloatVec acc[MR][NV];
  WHERRY_UNROLL
  for (int r = 0; r < MR; ++r) {
    WHERRY_UNROLL
    for (int j = 0; j < NV; ++j) acc[r][j] = Zero();
  }
  const int64_t a_row = call.a.row_stride;
  const int64_t a_col = call.a.col_stride;
  const float* a = call.a.data + row0 * a_row;
  for (int64_t left = call.k; left > 0; left -= ReadAhead::kSteps) {
    weights.Request();
    next_rows.Request();
    for (int64_t k = std::min(left, ReadAhead::kSteps); k > 0; --k) {
      FloatVec bv[NV];
      WHERRY_UNROLL
      for (int j = 0; j < NV; ++j) bv[j] = Load(b + j / kStepVectors * group + j % kStepVectors * kLanes);
      WHERRY_UNROLL
      for (int r = 0; r < MR; ++r) {
        const FloatVec av = Set(a[r * a_row]);
        WHERRY_UNROLL
        for (int j = 0; j < NV; ++j) acc[r][j] = hn::MulAdd(av, bv[j], acc[r][j]);
      }
      a += a_col;
      b += b_stride;
    }
  }
  StoreTile(acc, *call.epilogue, rows, col, cols);
}

// cols > 0 columns from b's first on, at most TileVectors(MR) vectors; b must have whole vectors, c has only cols.
template <int MR>
HWY_INLINE void GemmTileColumns(const GemmCall& call, const float* b, int64_t b_stride, int64_t row0, int64_t col,
                                int64_t cols, const TileAhead* ahead) {
  constexpr int kMax = TileVectors(MR);
  const int64_t vectors = (cols + kLanes - 1) / kLanes;
  if (vectors == 1) return GemmTile<MR, 1>(call, b, b_stride, row0, col, cols, ahead);
  if constexpr (kMax > 2) {
    if (vectors == 2) return GemmTile<MR, 2>(call, b, b_stride, row0, col, cols, ahead);
    if (vectors == 3) return GemmTile<MR, 3>(call, b, b_stride, row0, col, cols, ahead);
  }
  GemmTile<MR, kMax>(call, b, b_stride, row0, col, cols, ahead);
}

// What a block of row tiles asks for: the panel behind its own, of which every call of a tile takes a part, and the
// rows of the next tile, of which those of one tile do. Made once for each block.
class RowTilesAhead {
 public:
  RowTilesAhead(const GemmCall& call, const RowTiles& tiles, int64_t tile_begin, int64_t tile_end, int64_t panel_begin,
                int64_t panel_end)
      : call_(call), tiles_(tiles), tile_begin_(tile_begin), tile_end_(tile_end) {
    // Under kShortSum asking costs more than it brings.
    constexpr int64_t kShortSum = 64;
    if (tile_end - tile_begin == 1 || call.k < kShortSum) return;
    const int64_t columns = std::min(call.n, panel_end * kPanelWidth) - panel_begin * kPanelWidth;
    const int64_t step = TileVectors(tiles.height) * kLanes;
    calls_ = (columns + step - 1) / step;  // of a tile
    // Packed panels that are taken one at a time.
    if (call.b.panel_stride == call.k * kPanelWidth && panel_end - panel_begin == 1 && panel_end < call.b.count) {
      panel_ = call.b.data + panel_end * call.b.panel_stride;
      panel_parts_ = BlockAhead(call.k * kPanelWidth, call.k, (tile_end - tile_begin) * calls_);
    }
    // Rows that are read for the first time, too many for L1, and close together.
    constexpr int64_t kFewFloats = 4096;
    if (panel_begin == 0 && call.m * call.k > kFewFloats && call.a.col_stride == 1 &&
        call.a.row_stride * 4 <= call.k * 5) {
      row_parts_ = BlockAhead((tiles.height + 1) * call.a.row_stride, call.k, calls_);
    }
  }

  bool asks() const { return calls_ > 0; }
  // In call `i` of tile `tile`.
  HWY_INLINE TileAhead Part(int64_t tile, int64_t i) const {
    TileAhead part;
    if (panel_ != nullptr) part.weights = panel_parts_.Part(panel_, (tile - tile_begin_) * calls_ + i);
    if (tile + 1 < tile_end_)
      part.rows = row_parts_.Part(call_.a.data + tiles_.Begin(tile + 1) * call_.a.row_stride, i);
    return part;
  }

 private:
  const GemmCall& call_;
  const RowTiles& tiles_;
  int64_t tile_begin_;
  int64_t tile_end_;
  int64_t calls_ = 0;
  const float* panel_ = nullptr;
  BlockAhead panel_parts_;
  BlockAhead row_parts_;
};

// The MR rows of a tile through panels [panel_begin, panel_end).
template <int MR>
HWY_INLINE void GemmRows(const GemmCall& call, int64_t tile, int64_t row0, int64_t panel_begin, int64_t panel_end,
                         const RowTilesAhead& ahead) {
  constexpr int64_t kStep = TileVectors(MR) * kLanes;
  int64_t calls = 0;
  for (int64_t p = panel_begin; p < panel_end; ++p) {
    const bool is_last = p + 1 == call.b.count;
    const float* const panel = is_last ? call.b.last : call.b.data + p * call.b.panel_stride;
    const int64_t stride = is_last ? call.b.last_row_stride : call.b.row_stride;
    const int64_t cols = std::min(call.n - p * kPanelWidth, kPanelWidth);
    for (int64_t j = 0; j < cols; j += kStep) {
      const float* const b = panel + j / kPanelStep * call.b.group_stride + j % kPanelStep;
      TileAhead part;
      if (ahead.asks()) part = ahead.Part(tile, calls++);
      GemmTileColumns<MR>(call, b, stride, row0, p * kPanelWidth + j, std::min(kStep, cols - j),
                          ahead.asks() ? &part : nullptr);
    }
  }
}

}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
