// The multiply loop that implicit GEMM and Winograd share: rows gathered through pointers times one packed panel.
// Compiled once per instruction set.

#if defined(WHERRY_KERNELS_CPU_CONV_TILE_KERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WHERRY_KERNELS_CPU_CONV_TILE_KERNEL_INL_H_
#undef WHERRY_KERNELS_CPU_CONV_TILE_KERNEL_INL_H_
#else
#define WHERRY_KERNELS_CPU_CONV_TILE_KERNEL_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

#include "kernels/cpu/conv/panel.h"
#include "kernels/cpu/gemm/layout-inl.h"
#include "kernels/cpu/gemm/read_ahead.h"
#include "kernels/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {

inline constexpr int64_t kMaxTileRows = 12;
inline constexpr float kNoClamp = std::numeric_limits<float>::infinity();

// Vectors of a row that stay in registers together: four with 32 registers (AVX-512: a whole panel), two with 16. The
// panel is walked in column blocks of as many; in any layout a block lies within one group of columns.
inline constexpr int64_t kMaxVectors = kRegisters == 32 ? 4 : 2;

// The tallest tile whose accumulators, one row of the panel and one broadcast fit the registers. Taller than 12 would
// also spill the row pointers (16 general registers). One vector of 16 registers: eight rows cover the latency of a
// multiply-add, twelve were no faster.
constexpr int64_t MaxTileRows(int64_t vectors) {
  if (kRegisters < 32) return vectors == 1 ? 8 : 6;
  return vectors == 4 ? 6 : vectors == 3 ? 8 : kMaxTileRows;
}

// What happens to the accumulators of a tile: clamp(sum + bias, lo, hi), stored through one pointer per row.
struct TileSink {
  const float* bias;  // of the tile's first column; nullptr: none
  float lo;
  float hi;
  int64_t columns;  // to store; bias has as many
  float* const* out;
};

// The first n of p, or all of a vector when n is more; n may be negative.
HWY_INLINE FloatVec LoadUpTo(const float* p, int64_t n) {
  return HWY_LIKELY(n >= kLanes) ? Load(p) : LoadN(p, n < 0 ? 0 : n);
}
HWY_INLINE void StoreUpTo(FloatVec v, float* p, int64_t n) {
  if (HWY_LIKELY(n >= kLanes)) {
    Store(v, p);
  } else if (n > 0) {
    StoreN(v, p, n);
  }
}

// The sink's columns of a tile, fewer than it has.
template <int kRows, int kVectors>
HWY_INLINE void StorePartialTile(const FloatVec (&acc)[kRows][kVectors], const TileSink& sink) {
#if HWY_TARGET == HWY_AVX3
  WHERRY_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    const int64_t live = std::clamp<int64_t>(sink.columns - v * kLanes, 0, kLanes);
    const FloatMask mask = hn::FirstN(FloatTag(), static_cast<size_t>(live));
    WHERRY_UNROLL
    for (int r = 0; r < kRows; ++r) hn::BlendedStore(acc[r][v], mask, FloatTag(), sink.out[r] + v * kLanes);
  }
#else
  // Through a buffer, so that the code of a partial store is there once and not for every accumulator.
  HWY_ALIGN float tile[kRows * kVectors * kLanes];
  WHERRY_UNROLL
  for (int r = 0; r < kRows; ++r) {
    WHERRY_UNROLL
    for (int v = 0; v < kVectors; ++v) hn::Store(acc[r][v], FloatTag(), tile + (r * kVectors + v) * kLanes);
  }
  for (int64_t r = 0; r < kRows; ++r) {
    for (int64_t v = 0; v < kVectors; ++v) {
      StoreUpTo(Load(tile + (r * kVectors + v) * kLanes), sink.out[r] + v * kLanes, sink.columns - v * kLanes);
    }
  }
#endif
}

// out[r][j] = clamp(bias[j] + sum over runs and k < run length of rows[r][run + k] * panel[run + k][j]), for kRows rows
// and kVectors * kLanes columns. `panel` points at the first column; its rows are panel_row floats apart.
template <int kRows, int kVectors>
HWY_NOINLINE void MultiplyTile(const float* const* rows, const RunGrid& runs, const float* panel, int64_t panel_row,
                               const TileSink& sink, const TileAhead& ahead) {
  ReadAhead weights = ahead.weights;
  ReadAhead next_rows = ahead.rows;
  FloatVec acc[kRows][kVectors];
  WHERRY_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    const FloatVec bias = sink.bias == nullptr ? Zero() : LoadUpTo(sink.bias + v * kLanes, sink.columns - v * kLanes);
    WHERRY_UNROLL
    for (int r = 0; r < kRows; ++r) acc[r][v] = bias;
  }
  for (int64_t outer = 0; outer < runs.outer_count; ++outer) {
    for (int64_t inner = 0; inner < runs.inner_count; ++inner) {
      const int64_t offset = outer * runs.outer_offset + inner * runs.inner_offset;
      const float* a[kRows];
      WHERRY_UNROLL
      for (int r = 0; r < kRows; ++r) a[r] = rows[r] + offset;
      const float* b = panel + (outer * runs.outer_depth + inner * runs.inner_depth) * panel_row;
      for (int64_t k = 0; k < runs.length;) {
        weights.Request();
        next_rows.Request();
        for (const int64_t end = std::min(runs.length, k + ReadAhead::kSteps); k < end; ++k) {
          FloatVec row[kVectors];
          WHERRY_UNROLL
          for (int v = 0; v < kVectors; ++v) row[v] = hn::Load(FloatTag(), b + v * kLanes);
          b += panel_row;
          WHERRY_UNROLL
          for (int r = 0; r < kRows; ++r) {
            const FloatVec x = Set(a[r][k]);
            WHERRY_UNROLL
            for (int v = 0; v < kVectors; ++v) acc[r][v] = MulAdd(x, row[v], acc[r][v]);
          }
        }
      }
    }
  }
  const FloatVec lo = Set(sink.lo);
  const FloatVec hi = Set(sink.hi);
  WHERRY_UNROLL
  for (int r = 0; r < kRows; ++r) {
    WHERRY_UNROLL
    for (int v = 0; v < kVectors; ++v) acc[r][v] = Clip(acc[r][v], lo, hi);
  }
  if (HWY_UNLIKELY(sink.columns < kVectors * kLanes)) return StorePartialTile(acc, sink);
  WHERRY_UNROLL
  for (int r = 0; r < kRows; ++r) {
    float* const out = sink.out[r];
    WHERRY_UNROLL
    for (int v = 0; v < kVectors; ++v) Store(acc[r][v], out + v * kLanes);
  }
}

using MultiplyTileFn = void (*)(const float* const*, const RunGrid&, const float*, int64_t, const TileSink&,
                                const TileAhead&);

template <int kVectors, int... kIndex>
constexpr std::array<MultiplyTileFn, sizeof...(kIndex)> MultiplyTileTable(std::integer_sequence<int, kIndex...>) {
  return {&MultiplyTile<kIndex + 1, kVectors>...};
}

template <int kVectors>
inline constexpr auto kMultiplyTile =
    MultiplyTileTable<kVectors>(std::make_integer_sequence<int, static_cast<int>(MaxTileRows(kVectors))>());

// The kernel for a tile of `height` <= MaxTileRows(vectors) rows.
inline MultiplyTileFn MultiplyTileOf(int64_t vectors, int64_t height) {
  const size_t index = static_cast<size_t>(height - 1);
  if (vectors == 1) return kMultiplyTile<1>[index];
  if constexpr (kMaxVectors == 4) {
    if (vectors == 4) return kMultiplyTile<4>[index];
    if (vectors == 3) return kMultiplyTile<3>[index];
  }
  return kMultiplyTile<2>[index];
}

// Registers' worth of columns. Panels are wider where vectors are narrow: 8 columns (a group's, or the last of 24) are
// one vector of AVX2, not the two of a panel step.
inline int64_t ColumnBlockVectors(int64_t columns) {
  const int64_t vectors = (columns + kLanes - 1) / kLanes;
  return vectors < kMaxVectors ? vectors : kMaxVectors;
}

}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
