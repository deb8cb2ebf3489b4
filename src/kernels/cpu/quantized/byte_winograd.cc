#include "kernels/cpu/quantized/byte_winograd.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/conv/panel.h"
#include "kernels/cpu/share_out.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/quantized/byte_winograd.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/gemm/layout-inl.h"
#include "kernels/cpu/quantized/byte_dot-inl.h"
#include "kernels/cpu/quantized/byte_result-inl.h"
#include "kernels/cpu/quantized/byte_winograd_transform-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

constexpr int64_t kMaxRows = 6;
constexpr int kTileVectors = kRegisters == 32 ? 4 : 2;
// Columns of a register tile, and those that lie side by side.
constexpr int64_t kStep = kTileVectors * kLanes;
constexpr int64_t kSideBySide = kWeightLayout == PanelLayout::kRows ? kBytePanel : kPanelStep;
constexpr int64_t kWords = 2 * kLanes;

// A tile's place: its image and the output pixel of its corner.
struct TilePlace {
  TilePlace(const ByteWinogradPlan& plan, int64_t tile)
      : image(tile / (plan.tiles_y * plan.tiles_x)),
        y(tile / plan.tiles_x % plan.tiles_y * plan.filter.tile()),
        x(tile % plan.tiles_x * plan.filter.tile()) {}
  int64_t image;
  int64_t y;
  int64_t x;
};

// Bytes of a tile, from its corner on. Whole vectors of channels are read.
struct TileBytes {
  const uint8_t* corner;
  int64_t row;  // bytes from one to the next
  int64_t pixel;
};

// flip: what makes a byte an i8.
template <int kTile>
HWY_NOINLINE void TransformTile(const TileBytes& tile, int64_t channels, uint8_t flip, int16_t* to, int64_t stride) {
  constexpr int kSide = kTile + 2;
  const WordTag words;
  const hn::Rebind<uint8_t, WordTag> bytes;
  const hn::Rebind<int8_t, WordTag> signed_bytes;
  const auto flips = hn::Set(bytes, flip);
  const TileBytes from = tile;  // a copy: what is stored could be the original
  for (int64_t c = 0; c < channels; c += kWords) {
    WordVec columns[kSide][kSide];
    WHERRY_UNROLL
    for (int j = 0; j < kSide; ++j) {
      WordVec d[kSide];
      WordVec o[kSide];
      WHERRY_UNROLL
      for (int i = 0; i < kSide; ++i) {
        const auto x = hn::Xor(flips, hn::LoadU(bytes, from.corner + i * from.row + j * from.pixel + c));
        d[i] = hn::PromoteTo(words, hn::BitCast(signed_bytes, x));
      }
      ByteWinogradTransform<kTile>::Input(d, o);
      WHERRY_UNROLL
      for (int i = 0; i < kSide; ++i) columns[i][j] = o[i];
    }
    WHERRY_UNROLL
    for (int i = 0; i < kSide; ++i) {
      WordVec o[kSide];
      ByteWinogradTransform<kTile>::Input(columns[i], o);
      WHERRY_UNROLL
      for (int j = 0; j < kSide; ++j) hn::StoreU(o[j], words, to + (i * kSide + j) * stride + c);
    }
  }
}

// A tile that hangs over the image's border, or whose vectors would reach past its end, is copied with what lies
// around.
TileBytes PlaceTile(const ByteWinogradCall& call, int64_t t, uint8_t* buffer) {
  const ByteWinogradPlan& plan = call.plan;
  const ConvShape& s = plan.shape;
  const int64_t side = plan.filter.tile() + 2;
  const TilePlace place(plan, t);
  const int64_t y = place.y - s.pad_top;
  const int64_t x = place.x - s.pad_left;
  const int64_t pixel = s.in_pixel_stride;
  const int64_t row = s.in_width * pixel;
  const int64_t channels = s.in_channels();
  const uint8_t* const corner = call.image + (place.image * s.in_height + y) * row + x * pixel;
  if (y >= 0 && x >= 0 && y + side <= s.in_height && x + side <= s.in_width) {
    const uint8_t* const last = corner + (side - 1) * (row + pixel);
    const uint8_t* const end = call.image + s.batch * s.in_height * row;
    if (last + (channels + kWords - 1) / kWords * kWords <= end) return {corner, row, pixel};
  }
  uint8_t* to = buffer;
  for (int64_t i = 0; i < side; ++i) {
    for (int64_t j = 0; j < side; ++j, to += plan.pixel_bytes) {
      const bool inside = y + i >= 0 && y + i < s.in_height && x + j >= 0 && x + j < s.in_width;
      if (inside) {
        std::memcpy(to, corner + i * row + j * pixel, static_cast<size_t>(channels));
      } else {
        std::memset(to, call.pad, static_cast<size_t>(channels));
      }
    }
  }
  return {buffer, side * plan.pixel_bytes, plan.pixel_bytes};
}

// sums = MR rows of words times NV vectors of columns, both as pairs of the depth.
template <int MR, int NV>
HWY_NOINLINE void WordTile(const int16_t* rows, int64_t stride, int64_t depth, const int16_t* b, int32_t* sums) {
  const IntTag tag;
  const WordTag words;
  IntVec acc[MR][NV];
  const int16_t* a[MR];
  WHERRY_UNROLL
  for (int r = 0; r < MR; ++r) {
    a[r] = rows + r * stride;
    WHERRY_UNROLL
    for (int j = 0; j < NV; ++j) acc[r][j] = hn::Zero(tag);
  }
  for (int64_t k = 0; k < depth; k += 2, b += kSideBySide * 2) {
    WordVec w[NV];
    WHERRY_UNROLL
    for (int j = 0; j < NV; ++j) w[j] = hn::LoadU(words, b + j * kWords);
    WHERRY_UNROLL
    for (int r = 0; r < MR; ++r) {
      int32_t pair;
      std::memcpy(&pair, a[r] + k, sizeof(pair));
      const WordVec x = hn::BitCast(words, hn::Set(tag, pair));
      WHERRY_UNROLL
      for (int j = 0; j < NV; ++j) acc[r][j] = AddInPlace(acc[r][j], x, w[j]);
    }
  }
  WHERRY_UNROLL
  for (int r = 0; r < MR; ++r) {
    WHERRY_UNROLL
    for (int j = 0; j < NV; ++j) hn::StoreU(acc[r][j], tag, sums + r * kStep + j * kLanes);
  }
}

template <int NV>
void MultiplyRows(int64_t count, const int16_t* rows, int64_t stride, int64_t depth, const int16_t* b, int32_t* sums) {
  switch (count) {
    case 1: return WordTile<1, NV>(rows, stride, depth, b, sums);
    case 2: return WordTile<2, NV>(rows, stride, depth, b, sums);
    case 3: return WordTile<3, NV>(rows, stride, depth, b, sums);
    case 4: return WordTile<4, NV>(rows, stride, depth, b, sums);
    case 5: return WordTile<5, NV>(rows, stride, depth, b, sums);
    case 6: return WordTile<6, NV>(rows, stride, depth, b, sums);
  }
}

// sums[point][tile][kStep] = input[point][tile] times the columns at b of each point.
template <int NV>
void Multiply(const ByteWinogradPlan& plan, const int16_t* input, int64_t tiles, const int16_t* b, int32_t* sums) {
  const BalancedTiles cuts(tiles, kMaxRows);
  const int64_t depth = plan.filter.depth();
  for (int64_t p = 0; p < plan.filter.points(); ++p) {
    for (int64_t i = 0; i < cuts.count; ++i) {
      const int64_t first = cuts.First(i);
      MultiplyRows<NV>(cuts.Height(i), input + first * plan.tile_stride, plan.tile_stride, depth, b,
                       sums + first * kStep);
    }
    input += plan.input_stride;
    b += depth * kSideBySide;
    sums += plan.sums_stride;
  }
}

// The first MR pixels of a tile's row.
template <int kTile, int MR, int NV>
HWY_INLINE void StorePixels(const ByteResult& result, const IntVec (&pixels)[NV][kTile], int64_t row, int64_t col,
                            int64_t live) {
  IntVec offsets[NV];
  LoadOffsets(result, col, offsets);
  IntVec sums[MR][NV];
  WHERRY_UNROLL
  for (int i = 0; i < MR; ++i) {
    WHERRY_UNROLL
    for (int j = 0; j < NV; ++j) {
      sums[i][j] = hn::Add(ByteWinogradTransform<kTile>::Divide(pixels[j][i]), offsets[j]);
    }
  }
  StoreSums(result, sums, nullptr, row, col, live);
}

// Transforms the sums of a tile and NV vectors of columns back and stores them.
template <int kTile, int NV>
HWY_NOINLINE void FinishTile(const ByteWinogradCall& call, const int32_t* sums, int64_t t, int64_t col, int64_t live) {
  constexpr int kSide = kTile + 2;
  const IntTag tag;
  const ConvShape& s = call.plan.shape;
  const ByteResult result = call.result;  // a copy: what is stored could be the original
  const int64_t stride = call.plan.sums_stride;
  const TilePlace place(call.plan, t);
  const int64_t height = std::min<int64_t>(kTile, s.out_height() - place.y);
  const int64_t width = std::min<int64_t>(kTile, s.out_width() - place.x);
  HWY_ALIGN int32_t half[NV][kTile][kSide][kLanes];
  WHERRY_UNROLL
  for (int v = 0; v < NV; ++v) {
    for (int j = 0; j < kSide; ++j) {
      IntVec m[kSide];
      IntVec o[kTile];
      WHERRY_UNROLL
      for (int i = 0; i < kSide; ++i) m[i] = hn::LoadU(tag, sums + (i * kSide + j) * stride + v * kLanes);
      ByteWinogradTransform<kTile>::Output(m, o);
      WHERRY_UNROLL
      for (int i = 0; i < kTile; ++i) hn::Store(o[i], tag, half[v][i][j]);
    }
  }
  for (int64_t i = 0; i < height; ++i) {
    IntVec pixels[NV][kTile];
    WHERRY_UNROLL
    for (int v = 0; v < NV; ++v) {
      IntVec m[kSide];
      WHERRY_UNROLL
      for (int j = 0; j < kSide; ++j) m[j] = hn::Load(tag, half[v][i][j]);
      ByteWinogradTransform<kTile>::Output(m, pixels[v]);
    }
    const int64_t row = (place.image * s.out_height() + place.y + i) * s.out_width() + place.x;
    if (HWY_LIKELY(width == kTile)) {
      StorePixels<kTile, kTile>(result, pixels, row, col, live);
    } else if (width == 1) {
      StorePixels<kTile, 1>(result, pixels, row, col, live);
    } else if (width == 2) {
      StorePixels<kTile, 2>(result, pixels, row, col, live);
    } else if constexpr (kTile > 2) {
      StorePixels<kTile, 3>(result, pixels, row, col, live);
    }
  }
}

template <int kTile, int NV>
void RunColumns(const ByteWinogradCall& call, const ByteWinogradBlock& block, const int16_t* b, int64_t col,
                int64_t live) {
  Multiply<NV>(call.plan, block.input, block.count, b, block.sums);
  for (int64_t i = 0; i < block.count; ++i) {
    FinishTile<kTile, NV>(call, block.sums + i * kStep, block.first + i, col, live);
  }
}

template <int kTile>
void TransformBlock(const ByteWinogradCall& call, const ByteWinogradBlock& block) {
  const uint8_t flip = call.is_signed ? 0 : 0x80;
  for (int64_t i = 0; i < block.count; ++i) {
    TransformTile<kTile>(PlaceTile(call, block.first + i, block.buffer), call.plan.shape.in_channels(), flip,
                         block.input + i * call.plan.tile_stride, call.plan.input_stride);
  }
}

template <int kTile>
void RunPanels(const ByteWinogradCall& call, const ByteWinogradBlock& block, int64_t begin, int64_t end) {
  const ByteWinogradFilter& filter = call.plan.filter;
  for (int64_t col = begin; col < end; col += kStep) {
    const int64_t within = col % kSideBySide;
    const int16_t* const b =
        static_cast<const int16_t*>(call.packed) + filter.points() * filter.depth() * (col - within) + within * 2;
    // Half tiles: narrow results would otherwise multiply zeros.
    const int64_t live = std::min(kStep, end - col);
    if (live <= kStep / 4) {
      RunColumns<kTile, (kTileVectors + 3) / 4>(call, block, b, col, live);
    } else if (live <= kStep / 2) {
      RunColumns<kTile, kTileVectors / 2>(call, block, b, col, live);
    } else {
      RunColumns<kTile, kTileVectors>(call, block, b, col, live);
    }
  }
}

// The two stages by tile size: what RunByteWinograd calls.
void TransformBlockOf(const ByteWinogradCall& call, const ByteWinogradBlock& block) {
  call.plan.filter.size == WinogradSize::kF4 ? TransformBlock<4>(call, block) : TransformBlock<2>(call, block);
}
void RunPanelsOf(const ByteWinogradCall& call, const ByteWinogradBlock& block, int64_t begin, int64_t end) {
  call.plan.filter.size == WinogradSize::kF4 ? RunPanels<4>(call, block, begin, end)
                                             : RunPanels<2>(call, block, begin, end);
}

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {

void RunByteWinograd(const ByteWinogradCall& call, void* scratch, ThreadPool* pool) {
  const ByteWinogradPlan& plan = call.plan;
  const int64_t points = plan.filter.points();
  const int64_t n = plan.shape.weight.out_channels;
  const int64_t panels = PaddedBytes64(n) / kBytePanel;
  const auto transform = WHERRY_ISA_CALL(TransformBlockOf);
  const auto run_panels = WHERRY_ISA_CALL(RunPanelsOf);
  char* const buffers = static_cast<char*>(scratch) + plan.parameter_bytes;
  ShareOut(pool, plan.workers, plan.blocks * plan.panel_blocks, [&](int64_t worker, const auto& next) {
    ByteWinogradBlock block;
    block.sums = reinterpret_cast<int32_t*>(buffers + worker * plan.worker_bytes);
    block.input = reinterpret_cast<int16_t*>(block.sums + points * plan.sums_stride);
    block.buffer = reinterpret_cast<uint8_t*>(block.input + points * plan.input_stride);
    for (int64_t item = next(); item >= 0; item = next()) {
      const int64_t panel_block = item % plan.panel_blocks;
      const int64_t first = plan.tiles * (item / plan.panel_blocks) / plan.blocks;
      // Every worker transforms the tiles of a block whose columns are shared for itself, once.
      if (block.count == 0 || block.first != first) {
        block.first = first;
        block.count = plan.tiles * (item / plan.panel_blocks + 1) / plan.blocks - first;
        transform(call, block);
      }
      run_panels(call, block, panels * panel_block / plan.panel_blocks * kBytePanel,
                 std::min(n, panels * (panel_block + 1) / plan.panel_blocks * kBytePanel));
    }
  });
}

}  // namespace wherry::cpu
#endif  // HWY_ONCE
