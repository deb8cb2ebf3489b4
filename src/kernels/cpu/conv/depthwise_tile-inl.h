// The register tiles of depthwise convolution, and which one a convolution takes. Per-instruction-set header: the guard
// toggles.
#if defined(WHERRY_KERNELS_CPU_CONV_DEPTHWISE_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WHERRY_KERNELS_CPU_CONV_DEPTHWISE_TILE_INL_H_
#undef WHERRY_KERNELS_CPU_CONV_DEPTHWISE_TILE_INL_H_
#else
#define WHERRY_KERNELS_CPU_CONV_DEPTHWISE_TILE_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kernels/cpu/conv/ceil_divide.h"
#include "kernels/cpu/conv/conv_shape.h"
#include "kernels/cpu/conv/depthwise_any_tile-inl.h"
#include "kernels/cpu/conv/depthwise_job-inl.h"
#include "kernels/cpu/simd/cache_line.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {

// Output columns of a tile: 7 divides the widths of many networks (7, 14, 28, 56, 112), 8 those of others. With 32
// registers tiles have several rows and leave no room for the eighth; SSE4 does without, for the sake of its size.
inline constexpr int kLeastDepthwiseColumns = 7;
inline constexpr int kMostDepthwiseColumns = HWY_TARGET == HWY_AVX2 ? 8 : 7;

// Adds the products of input row i to one vector of channels of a kRows x kColumns tile. weight: of the vector; row: at
// the first channel that it reads.
template <class Channels, int kKernel, int kStride, int kRows, int kColumns, TilePart kPart>
HWY_INLINE void AddInputRow(const DepthwiseJob& job, const Channels& channels, const float* weight, const float* row,
                            int i, FloatVec (&acc)[kRows][kColumns]) {
  constexpr int kGroup = Channels::kGroup;
  constexpr int kInColumns = (kColumns - 1) * kStride + kKernel;
  const int64_t in_pixel = job.in_pixel;
  _Pragma("GCC unroll 4") for (int k = 0; k < kGroup; ++k) {
    FloatVec w[kRows][kKernel];
    WHERRY_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const int ky = i - r * kStride;
      if (kGroup == 1 && (ky < 0 || ky >= kKernel)) continue;
      WHERRY_UNROLL
      for (int kx = 0; kx < kKernel; ++kx) {
        w[r][kx] = hn::Load(FloatTag(), weight + ((ky * kKernel + kx) * kGroup + k) * kPanelStep);
      }
    }
    WHERRY_UNROLL
    for (int j = 0; j < kInColumns; ++j) {
      if (kPart != TilePart::kWhole && (j < job.column_begin || j >= job.column_end)) continue;
      const FloatVec x = channels.template Read<kPart>(row + j * in_pixel, k);
      WHERRY_UNROLL
      for (int r = 0; r < kRows; ++r) {
        const int ky = i - r * kStride;
        if (kGroup == 1 && (ky < 0 || ky >= kKernel)) continue;
        WHERRY_UNROLL
        for (int kx = 0; kx < kKernel; ++kx) {
          const int from = j - kx;
          if (from >= 0 && from % kStride == 0 && from / kStride < kColumns) {
            acc[r][from / kStride] = MulAdd(x, w[r][kx], acc[r][from / kStride]);
          }
        }
      }
    }
  }
}

// One vector of channels of a kRows x kColumns tile.
template <class Channels, int kKernel, int kStride, int kRows, int kColumns, TilePart kPart>
HWY_INLINE void DepthwiseVector(const DepthwiseJob& job, int64_t c) {
  const Channels channels(job, c);
  const float* const weight = DepthwiseWeight(job, c);
  FloatVec acc[kRows][kColumns];
  StartDepthwise<kPart>(job, c, acc);
  const float* const in = job.in + channels.first();
  if constexpr (Channels::kGroup > 1) {
    // Not unrolled: a row has products enough.
    static_assert(kRows == 1);
    const int begin = static_cast<int>(std::max<int64_t>(0, job.row_begin));
    const int end = static_cast<int>(std::min<int64_t>(kKernel, job.row_end));
    for (int i = begin; i < end; ++i) {
      AddInputRow<Channels, kKernel, kStride, 1, kColumns, kPart>(job, channels, weight, in + i * job.in_row, i, acc);
    }
  } else {
    WHERRY_UNROLL
    for (int i = 0; i < (kRows - 1) * kStride + kKernel; ++i) {
      if (i < job.row_begin || i >= job.row_end) continue;
      AddInputRow<Channels, kKernel, kStride, kRows, kColumns, kPart>(job, channels, weight, in + i * job.in_row, i,
                                                                      acc);
    }
  }
  FinishDepthwise<kPart>(job, c, acc);
}

// Asks for a cache line, from channel `in_channel` and output channel c on, of what the next tile is the first to read
// (tiles above and to the left read its other rows and columns) and of what it writes. A tile has too many pixels side
// by side for the processor to see where each goes on: with cold caches 56x56x144 took twice as long.
template <int kKernel, int kStride, int kRows, int kColumns>
HWY_INLINE void AskForNextTile(const DepthwiseJob& job, int64_t in_channel, int64_t c) {
  constexpr int kInRows = (kRows - 1) * kStride + kKernel;
  constexpr int kInColumns = (kColumns - 1) * kStride + kKernel;
  for (int i = kInRows - kRows * kStride; i < kInRows; ++i) {
    const float* const row = job.next_in + i * job.in_row + in_channel;
    for (int j = kInColumns - kColumns * kStride; j < kInColumns; ++j) {
      __builtin_prefetch(row + j * job.in_pixel);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    float* const row = job.next_out + r * job.out_row + c;
    for (int x = 0; x < kColumns; ++x) __builtin_prefetch(row + x * job.out_pixel, 1);
  }
}

using OwnChannel = ChannelGroups<1>;

// The channels of a job from c on, which make no whole vector.
template <class Channels, int kKernel, int kStride, int kRows, int kColumns>
HWY_NOINLINE void DepthwiseTail(const DepthwiseJob& job, int64_t c) {
  DepthwiseVector<Channels, kKernel, kStride, kRows, kColumns, TilePart::kTail>(job, c);
}

// All channels of a job. kPart: kWhole or kEdge.
template <class Channels, int kKernel, int kStride, int kRows, int kColumns, TilePart kPart>
HWY_NOINLINE void DepthwiseTile(const DepthwiseJob& job) {
  const int64_t whole = job.channels / kLanes * kLanes;
  for (int64_t c = 0; c < whole; c += kLanes) {
    if (job.asks && c % kLineFloats == 0) {
      AskForNextTile<kKernel, kStride, kRows, kColumns>(job, Channels(job, c).first(), c);
    }
    DepthwiseVector<Channels, kKernel, kStride, kRows, kColumns, kPart>(job, c);
  }
  if (whole == job.channels) return;
  if constexpr (std::is_same_v<Channels, OwnChannel>) {
    DepthwiseTail<Channels, kKernel, kStride, kRows, kColumns>(job, whole);
  } else {
    // Groups and multiples seldom leave a part of a vector over.
    DepthwiseAnyTail<Channels, kColumns>(job, whole);
  }
}

using DepthwiseTileFn = void (*)(const DepthwiseJob&);

// A convolution's tiles: how large they may be and the functions that compute them.
struct DepthwiseTiles {
  int64_t columns;
  int64_t max_rows;
  bool interleaves;  // the tiles know nothing of the dilation that there is
  DepthwiseTileFn (*whole)(int64_t rows);
  DepthwiseTileFn (*edge)(int64_t rows);
};

// Output rows of the tallest tile. With 32 registers, 3x3 holds 21 sums, 9 weights and an input; 5x5 14, 10 and one.
// With 16 there is room for one row.
template <class Channels>
constexpr int DepthwiseRows(int kernel, int stride) {
  if (kRegisters < 32 || kernel == 7 || !std::is_same_v<Channels, OwnChannel>) return 1;
  return kernel == 3 && stride == 1 ? 3 : 2;
}

// The tiles of one kernel, stride and width, by height.
template <class Channels, int kKernel, int kStride, int kColumns, TilePart kPart>
HWY_INLINE DepthwiseTileFn DepthwiseTileOfHeight(int64_t rows) {
  constexpr int kMaxRows = DepthwiseRows<Channels>(kKernel, kStride);
  if constexpr (kMaxRows >= 3) {
    if (rows == 3) return &DepthwiseTile<Channels, kKernel, kStride, 3, kColumns, kPart>;
  }
  if constexpr (kMaxRows >= 2) {
    if (rows == 2) return &DepthwiseTile<Channels, kKernel, kStride, 2, kColumns, kPart>;
  }
  return &DepthwiseTile<Channels, kKernel, kStride, 1, kColumns, kPart>;
}

template <class Channels, int kKernel, int kStride, int kColumns>
constexpr DepthwiseTiles DepthwiseTilesOf(bool dilated) {
  // Rows that lie one below the other are no neighbours to a dilated one.
  return {kColumns, dilated ? 1 : DepthwiseRows<Channels>(kKernel, kStride), dilated,
          &DepthwiseTileOfHeight<Channels, kKernel, kStride, kColumns, TilePart::kWhole>,
          &DepthwiseTileOfHeight<Channels, kKernel, kStride, kColumns, TilePart::kEdge>};
}

template <class Channels, int kColumns, TilePart kPart>
DepthwiseTileFn DepthwiseAnyTileOfHeight(int64_t) {
  return &DepthwiseAnyTile<Channels, kColumns, kPart>;
}

template <class Channels, int kColumns>
constexpr DepthwiseTiles AnyDepthwiseTiles() {
  return {kColumns, 1, false, &DepthwiseAnyTileOfHeight<Channels, kColumns, TilePart::kWhole>,
          &DepthwiseAnyTileOfHeight<Channels, kColumns, TilePart::kEdge>};
}

template <int kColumns>
DepthwiseTiles ChooseTilesOfColumns(const ConvShape& s) {
  const ConvWeightShape& w = s.weight;
  const bool dilated = s.dilation_height > 1 || s.dilation_width > 1;
  const bool square = w.kernel_height == w.kernel_width && s.stride_height == s.stride_width;
  const int64_t kernel = square ? w.kernel_height : 0;
  const bool unit = s.stride_height == 1;
  const bool halves = s.stride_height == 2 && !dilated;
  if (w.in_channels_per_group == 1 && w.out_channels_per_group() == 1) {
    if (kernel == 3 && unit) return DepthwiseTilesOf<OwnChannel, 3, 1, kColumns>(dilated);
    if (kernel == 5 && unit) return DepthwiseTilesOf<OwnChannel, 5, 1, kColumns>(dilated);
    if (kernel == 7 && unit) return DepthwiseTilesOf<OwnChannel, 7, 1, kColumns>(dilated);
    if (kernel == 3 && halves) return DepthwiseTilesOf<OwnChannel, 3, 2, kColumns>(false);
    if (kernel == 5 && halves) return DepthwiseTilesOf<OwnChannel, 5, 2, kColumns>(false);
    return AnyDepthwiseTiles<OwnChannel, kColumns>();
  }
  const bool unit_3x3 = kernel == 3 && unit && !dilated;
  const bool halving_3x3 = kernel == 3 && halves;
  switch (w.in_channels_per_group) {
    case 1:
      if (unit_3x3) return DepthwiseTilesOf<RepeatedChannels, 3, 1, kColumns>(false);
      if (halving_3x3) return DepthwiseTilesOf<RepeatedChannels, 3, 2, kColumns>(false);
      if (kernel == 7 && halves) return DepthwiseTilesOf<RepeatedChannels, 7, 2, kColumns>(false);
      return AnyDepthwiseTiles<RepeatedChannels, kColumns>();
    case 2: return AnyDepthwiseTiles<ChannelGroups<2>, kColumns>();
    case 4:
      if (unit_3x3) return DepthwiseTilesOf<ChannelGroups<4>, 3, 1, kColumns>(false);
      if (halving_3x3) return DepthwiseTilesOf<ChannelGroups<4>, 3, 2, kColumns>(false);
      return AnyDepthwiseTiles<ChannelGroups<4>, kColumns>();
    default:
      if (unit_3x3) return DepthwiseTilesOf<ChannelGroups<8>, 3, 1, kColumns>(false);
      if (halving_3x3) return DepthwiseTilesOf<ChannelGroups<8>, 3, 2, kColumns>(false);
      return AnyDepthwiseTiles<ChannelGroups<8>, kColumns>();
  }
}

inline DepthwiseTiles ChooseDepthwiseTiles(const ConvShape& s) {
  // Of two widths the one that leaves less of a row's last tile over.
  const int64_t width = CeilDivide(s.out_width(), s.dilation_width);
  const auto computed = [width](int64_t columns) { return CeilDivide(width, columns) * columns; };
  if (computed(kMostDepthwiseColumns) < computed(kLeastDepthwiseColumns)) {
    return ChooseTilesOfColumns<kMostDepthwiseColumns>(s);
  }
  return ChooseTilesOfColumns<kLeastDepthwiseColumns>(s);
}

}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
