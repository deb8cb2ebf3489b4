// The register tiles of depthwise convolution. Per-instruction-set header: the guard toggles.
#if defined(WHERRY_KERNELS_CPU_CONV_DEPTHWISE_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WHERRY_KERNELS_CPU_CONV_DEPTHWISE_TILE_INL_H_
#undef WHERRY_KERNELS_CPU_CONV_DEPTHWISE_TILE_INL_H_
#else
#define WHERRY_KERNELS_CPU_CONV_DEPTHWISE_TILE_INL_H_
#endif

#include "kernels/cpu/conv/conv_shape.h"
#include "kernels/cpu/conv/panel.h"
#include "kernels/cpu/simd/activation-inl.h"
#include "kernels/cpu/simd/cache_line.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {

// Output columns of a tile: 7 divides the widths of the usual networks (7, 14, 28, 56, 112).
inline constexpr int kDepthwiseColumns = 7;

// Output rows of the tallest tile. With 32 registers, 3x3 holds 21 sums, 9 weights and an input; 5x5 14, 10 and one.
// With 16 there is room for one row.
constexpr int DepthwiseRows(int kernel, int stride) {
  if (kRegisters < 32 || kernel == 7) return 1;
  return kernel == 3 && stride == 1 ? 3 : 2;
}

// A tile of outputs and all it needs. Rows and columns of the input count from what the tile's first tap reads, which
// may lie outside the image.
struct DepthwiseJob {
  const float* in;  // row 0, column 0; dereferenced only inside the image
  int64_t in_row;
  int64_t in_pixel;
  int64_t row_begin;  // input rows and columns inside the image
  int64_t row_end;
  int64_t column_begin;
  int64_t column_end;
  const float* weight;  // of the first channel's block
  const float* bias;    // nullptr: none
  float lo;
  float hi;
  bool hard_swish;          // applied before the clamp; the activation of MobileNetV3
  const float* last_scale;  // after hard_swish; nullptr: neither scale nor bias
  const float* last_bias;
  float* out;  // row 0, column 0
  bool asks;   // the memory of the tile that follows, whose row 0 and column 0 come next
  const float* next_in;
  float* next_out;
  int64_t out_row;
  int64_t out_pixel;
  int64_t store_begin;  // output columns to store
  int64_t store_end;
  int64_t rows;      // of the tile
  int64_t channels;  // from the first of a block
  // What the general tile needs.
  int64_t kernel_height;
  int64_t kernel_width;
  int64_t stride_height;
  int64_t stride_width;
  int64_t dilation_height;
  int64_t dilation_width;
  int64_t group;  // channels of one

  int64_t weights() const { return kernel_height * kernel_width * group; }  // of a channel
};

// The weights of channel c: they are kPanelStep floats apart.
HWY_INLINE const float* DepthwiseWeight(const DepthwiseJob& job, int64_t c) {
  return job.weight + c / kPanelStep * job.weights() * kPanelStep + c % kPanelStep;
}

// How much of a tile is there. Rows are tested in any case, one branch each.
enum class TilePart {
  kWhole,  // its columns lie inside the image and all are stored, and every lane is a channel
  kEdge,   // columns are tested, every lane is a channel
  kTail,   // columns are tested, and the vector has fewer channels than lanes
};

template <TilePart kPart>
HWY_INLINE FloatVec LoadChannels(const float* p, int64_t count) {
  if constexpr (kPart == TilePart::kTail) return LoadN(p, count);
  return Load(p);
}

template <TilePart kPart>
HWY_INLINE void StoreChannels(FloatVec v, float* p, int64_t count) {
  if constexpr (kPart == TilePart::kTail) {
    StoreN(v, p, count);
  } else {
    Store(v, p);
  }
}

// One vector of channels of a kRows x kDepthwiseColumns tile.
template <int kKernel, int kStride, int kRows, TilePart kPart>
HWY_INLINE void DepthwiseVector(const DepthwiseJob& job, int64_t c) {
  constexpr int kColumns = kDepthwiseColumns;
  constexpr int kInRows = (kRows - 1) * kStride + kKernel;
  constexpr int kInColumns = (kColumns - 1) * kStride + kKernel;
  const int64_t count = job.channels - c;
  const float* const weight = DepthwiseWeight(job, c);
  // Copies: a vector store may alias the job, which would be read again after each.
  float* const out = job.out + c;
  const int64_t out_row = job.out_row;
  const int64_t out_pixel = job.out_pixel;
  const int64_t in_pixel = job.in_pixel;
  const FloatVec bias = job.bias == nullptr ? Zero() : LoadChannels<kPart>(job.bias + c, count);
  FloatVec acc[kRows][kColumns];
  WHERRY_UNROLL
  for (int r = 0; r < kRows; ++r) {
    WHERRY_UNROLL
    for (int x = 0; x < kColumns; ++x) acc[r][x] = bias;
  }
  WHERRY_UNROLL
  for (int i = 0; i < kInRows; ++i) {
    if (i >= job.row_begin && i < job.row_end) {
      FloatVec w[kRows][kKernel];
      WHERRY_UNROLL
      for (int r = 0; r < kRows; ++r) {
        const int ky = i - r * kStride;
        WHERRY_UNROLL
        for (int kx = 0; kx < kKernel; ++kx) {
          if (ky >= 0 && ky < kKernel) w[r][kx] = hn::Load(FloatTag(), weight + (ky * kKernel + kx) * kPanelStep);
        }
      }
      const float* const row = job.in + i * job.in_row + c;
      WHERRY_UNROLL
      for (int j = 0; j < kInColumns; ++j) {
        if (kPart == TilePart::kWhole || (j >= job.column_begin && j < job.column_end)) {
          const FloatVec x = LoadChannels<kPart>(row + j * in_pixel, count);
          WHERRY_UNROLL
          for (int r = 0; r < kRows; ++r) {
            const int ky = i - r * kStride;
            WHERRY_UNROLL
            for (int kx = 0; kx < kKernel; ++kx) {
              const int from = j - kx;
              if (ky >= 0 && ky < kKernel && from >= 0 && from % kStride == 0 && from / kStride < kColumns) {
                acc[r][from / kStride] = MulAdd(x, w[r][kx], acc[r][from / kStride]);
              }
            }
          }
        }
      }
    }
  }
  if (HWY_UNLIKELY(job.hard_swish)) {
    WHERRY_UNROLL
    for (int r = 0; r < kRows; ++r) {
      WHERRY_UNROLL
      for (int x = 0; x < kColumns; ++x) acc[r][x] = HardSwish(acc[r][x]);
    }
    if (job.last_scale != nullptr) {
      const FloatVec scale = LoadChannels<kPart>(job.last_scale + c, count);
      const FloatVec last = LoadChannels<kPart>(job.last_bias + c, count);
      WHERRY_UNROLL
      for (int r = 0; r < kRows; ++r) {
        WHERRY_UNROLL
        for (int x = 0; x < kColumns; ++x) acc[r][x] = MulAdd(acc[r][x], scale, last);
      }
    }
  }
  const FloatVec lo = Set(job.lo);
  const FloatVec hi = Set(job.hi);
  WHERRY_UNROLL
  for (int r = 0; r < kRows; ++r) {
    WHERRY_UNROLL
    for (int x = 0; x < kColumns; ++x) {
      if (kPart == TilePart::kWhole || (x >= job.store_begin && x < job.store_end)) {
        StoreChannels<kPart>(Clip(acc[r][x], lo, hi), out + r * out_row + x * out_pixel, count);
      }
    }
  }
}

// Adds the products of a tap with the channels of each group, which lie side by side: within 128 bits, where spreading
// one of them takes a single instruction.
template <int kGroup>
HWY_INLINE FloatVec AddProducts(FloatVec x, const FloatVec (&w)[kGroup], FloatVec acc) {
  if constexpr (kGroup == 1) {
    return MulAdd(x, w[0], acc);
  } else if constexpr (kGroup == 2) {
    return MulAdd(hn::DupOdd(x), w[1], MulAdd(hn::DupEven(x), w[0], acc));
  } else {
    static_assert(kGroup == 4);
    acc = MulAdd(hn::Broadcast<1>(x), w[1], MulAdd(hn::Broadcast<0>(x), w[0], acc));
    return MulAdd(hn::Broadcast<3>(x), w[3], MulAdd(hn::Broadcast<2>(x), w[2], acc));
  }
}

// One vector of channels of one row of kDepthwiseColumns outputs, for any kernel, in groups of kGroup channels. A
// weight is loaded once per tap and an input once per tap and output, which the load units can just supply.
template <int kGroup, TilePart kPart>
HWY_INLINE void DepthwiseAnyVector(const DepthwiseJob& job, int64_t c) {
  constexpr int kColumns = kDepthwiseColumns;
  const int64_t count = job.channels - c;
  const float* weight = DepthwiseWeight(job, c);
  const FloatVec bias = job.bias == nullptr ? Zero() : LoadChannels<kPart>(job.bias + c, count);
  FloatVec acc[kColumns];
  WHERRY_UNROLL
  for (int x = 0; x < kColumns; ++x) acc[x] = bias;
  const int64_t step = job.stride_width * job.in_pixel;
  for (int64_t ky = 0; ky < job.kernel_height; ++ky) {
    const int64_t y = ky * job.dilation_height;
    if (y < job.row_begin || y >= job.row_end) continue;
    for (int64_t kx = 0; kx < job.kernel_width; ++kx) {
      const int64_t column = kx * job.dilation_width;
      FloatVec w[kGroup];
      WHERRY_UNROLL
      for (int k = 0; k < kGroup; ++k) {
        w[k] = hn::Load(FloatTag(), weight + ((ky * job.kernel_width + kx) * kGroup + k) * kPanelStep);
      }
      const float* const in = job.in + y * job.in_row + column * job.in_pixel + c;
      if (kPart == TilePart::kWhole ||
          (column >= job.column_begin && column + (kColumns - 1) * job.stride_width < job.column_end)) {
        WHERRY_UNROLL
        for (int x = 0; x < kColumns; ++x) acc[x] = AddProducts(LoadChannels<kPart>(in + x * step, count), w, acc[x]);
        continue;
      }
      WHERRY_UNROLL
      for (int x = 0; x < kColumns; ++x) {
        const int64_t at = column + x * job.stride_width;
        if (at >= job.column_begin && at < job.column_end) {
          acc[x] = AddProducts(LoadChannels<kPart>(in + x * step, count), w, acc[x]);
        }
      }
    }
  }
  if (HWY_UNLIKELY(job.hard_swish)) {
    WHERRY_UNROLL
    for (int x = 0; x < kColumns; ++x) acc[x] = HardSwish(acc[x]);
    if (job.last_scale != nullptr) {
      const FloatVec scale = LoadChannels<kPart>(job.last_scale + c, count);
      const FloatVec last = LoadChannels<kPart>(job.last_bias + c, count);
      WHERRY_UNROLL
      for (int x = 0; x < kColumns; ++x) acc[x] = MulAdd(acc[x], scale, last);
    }
  }
  const FloatVec lo = Set(job.lo);
  const FloatVec hi = Set(job.hi);
  WHERRY_UNROLL
  for (int x = 0; x < kColumns; ++x) {
    if (kPart == TilePart::kWhole || (x >= job.store_begin && x < job.store_end)) {
      StoreChannels<kPart>(Clip(acc[x], lo, hi), job.out + x * job.out_pixel + c, count);
    }
  }
}

// Asks for channels [c, c + kLineFloats) of what the next tile is the first to read (tiles above and to the left read
// its other rows and columns) and of what it writes. A tile has too many pixels side by side for the processor to see
// where each goes on: with cold caches 56x56x144 took twice as long.
template <int kKernel, int kStride, int kRows>
HWY_INLINE void AskForNextTile(const DepthwiseJob& job, int64_t c) {
  constexpr int kInRows = (kRows - 1) * kStride + kKernel;
  constexpr int kInColumns = (kDepthwiseColumns - 1) * kStride + kKernel;
  for (int i = kInRows - kRows * kStride; i < kInRows; ++i) {
    const float* const row = job.next_in + i * job.in_row + c;
    for (int j = kInColumns - kDepthwiseColumns * kStride; j < kInColumns; ++j) {
      __builtin_prefetch(row + j * job.in_pixel);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    float* const row = job.next_out + r * job.out_row + c;
    for (int x = 0; x < kDepthwiseColumns; ++x) __builtin_prefetch(row + x * job.out_pixel, 1);
  }
}

// All channels of a job. kPart: kWhole or kEdge.
template <int kKernel, int kStride, int kRows, TilePart kPart>
HWY_NOINLINE void DepthwiseTile(const DepthwiseJob& job) {
  int64_t c = 0;
  for (; c + kLanes <= job.channels; c += kLanes) {
    if (job.asks && c % kLineFloats == 0) AskForNextTile<kKernel, kStride, kRows>(job, c);
    DepthwiseVector<kKernel, kStride, kRows, kPart>(job, c);
  }
  if (c < job.channels) DepthwiseVector<kKernel, kStride, kRows, TilePart::kTail>(job, c);
}

template <int kGroup, TilePart kPart>
HWY_NOINLINE void DepthwiseAnyTile(const DepthwiseJob& job) {
  int64_t c = 0;
  for (; c + kLanes <= job.channels; c += kLanes) DepthwiseAnyVector<kGroup, kPart>(job, c);
  if (c < job.channels) DepthwiseAnyVector<kGroup, TilePart::kTail>(job, c);
}

using DepthwiseTileFn = void (*)(const DepthwiseJob&);

// The tiles of one kernel and stride, by height.
template <int kKernel, int kStride, TilePart kPart>
HWY_INLINE DepthwiseTileFn DepthwiseTileOfHeight(int64_t rows) {
  constexpr int kMaxRows = DepthwiseRows(kKernel, kStride);
  if constexpr (kMaxRows >= 3) {
    if (rows == 3) return &DepthwiseTile<kKernel, kStride, 3, kPart>;
  }
  if constexpr (kMaxRows >= 2) {
    if (rows == 2) return &DepthwiseTile<kKernel, kStride, 2, kPart>;
  }
  return &DepthwiseTile<kKernel, kStride, 1, kPart>;
}

// A convolution's tiles: how tall they may be and the functions that compute them.
struct DepthwiseTiles {
  int64_t max_rows;
  bool interleaves;  // the tiles know nothing of the dilation that there is
  DepthwiseTileFn (*whole)(int64_t rows);
  DepthwiseTileFn (*edge)(int64_t rows);
};

template <int kKernel, int kStride>
constexpr DepthwiseTiles DepthwiseTilesOf(bool dilated) {
  // Rows that lie one below the other are no neighbours to a dilated one.
  return {dilated ? 1 : DepthwiseRows(kKernel, kStride), dilated,
          &DepthwiseTileOfHeight<kKernel, kStride, TilePart::kWhole>,
          &DepthwiseTileOfHeight<kKernel, kStride, TilePart::kEdge>};
}

template <int kGroup, TilePart kPart>
DepthwiseTileFn DepthwiseAnyTileOfHeight(int64_t) {
  return &DepthwiseAnyTile<kGroup, kPart>;
}

template <int kGroup>
constexpr DepthwiseTiles AnyDepthwiseTiles() {
  return {1, false, &DepthwiseAnyTileOfHeight<kGroup, TilePart::kWhole>,
          &DepthwiseAnyTileOfHeight<kGroup, TilePart::kEdge>};
}

inline DepthwiseTiles ChooseDepthwiseTiles(const ConvShape& s) {
  const ConvWeightShape& w = s.weight;
  const bool square = w.kernel_height == w.kernel_width && s.stride_height == s.stride_width;
  const bool dilated = s.dilation_height > 1 || s.dilation_width > 1;
  if (w.in_channels_per_group == 2) return AnyDepthwiseTiles<2>();
  if (w.in_channels_per_group == 4) return AnyDepthwiseTiles<4>();
  if (square && s.stride_height == 1) {
    if (w.kernel_height == 3) return DepthwiseTilesOf<3, 1>(dilated);
    if (w.kernel_height == 5) return DepthwiseTilesOf<5, 1>(dilated);
    if (w.kernel_height == 7) return DepthwiseTilesOf<7, 1>(dilated);
  }
  if (square && s.stride_height == 2 && !dilated) {
    if (w.kernel_height == 3) return DepthwiseTilesOf<3, 2>(false);
    if (w.kernel_height == 5) return DepthwiseTilesOf<5, 2>(false);
  }
  return AnyDepthwiseTiles<1>();
}

}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
