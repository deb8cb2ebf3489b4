#include "kernels/cpu/quantized/byte_gemm.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/gemm/amx_tile.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/quantized/byte_gemm.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/gemm/layout-inl.h"
#include "kernels/cpu/quantized/byte_dot-inl.h"
#include "kernels/cpu/quantized/byte_result-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

HWY_INLINE int32_t FourBytes(const void* p) {
  int32_t bytes;
  std::memcpy(&bytes, p, sizeof(bytes));
  return bytes;
}

constexpr int64_t kMaxRows = 6;
constexpr int kTileVectors = kRegisters == 32 ? 4 : 2;
// Columns that lie side by side. A tile is no wider.
constexpr int64_t kSideBySide = kWeightLayout == PanelLayout::kRows ? kBytePanel : kPanelStep;

// A row in scratch memory.
template <typename T>
HWY_INLINE T* ScratchRow(const ByteGemmCall& call, int64_t row) {
  return reinterpret_cast<T*>(static_cast<char*>(call.row_scratch) +
                              row * RowScratchBytes(call.form, call.a.packed_depth()));
}

// acc += rows from `row` on times columns whose packed bytes begin at b, four of the depth at once.
template <int MR, int NV>
HWY_INLINE void AddDots(const ByteGemmCall& call, const int8_t* b, int64_t row, IntVec (&acc)[MR][NV]) {
  const IntTag tag;
  const uint8_t* const* segment = call.a.segments + row;
  for (int64_t s = 0; s < call.a.segment_count; ++s, segment += call.a.pitch) {
    const uint8_t* a[MR];
    WHERRY_UNROLL
    for (int r = 0; r < MR; ++r) a[r] = segment[r];
    for (int64_t k = 0; k < call.a.depth; k += 4, b += kSideBySide * 4) {
      IntVec w[NV];
      WHERRY_UNROLL
      for (int j = 0; j < NV; ++j) w[j] = hn::LoadU(tag, reinterpret_cast<const int32_t*>(b) + j * kLanes);
      WHERRY_UNROLL
      for (int r = 0; r < MR; ++r) {
        const IntVec x = hn::Set(tag, FourBytes(a[r] + k));
        WHERRY_UNROLL
        for (int j = 0; j < NV; ++j) acc[r][j] = Dot(acc[r][j], x, w[j]);
      }
    }
  }
}

// The same without that instruction: rows as words, two of the depth at once. Spreading two words over a vector is a
// load, widening weights one operation for all rows.
template <int MR, int NV>
HWY_INLINE void AddPairs(const ByteGemmCall& call, const int8_t* b, int64_t row, IntVec (&acc)[MR][NV]) {
  const WordTag words;
  const int64_t depth = call.a.packed_depth();
  const int16_t* a[MR];
  WHERRY_UNROLL
  for (int r = 0; r < MR; ++r) a[r] = ScratchRow<int16_t>(call, row + r);
  for (int64_t k = 0; k < depth; k += 2, b += kSideBySide * 2) {
    WordVec w[NV];
    WHERRY_UNROLL
    for (int j = 0; j < NV; ++j) {
      w[j] = hn::PromoteTo(words, hn::LoadU(hn::Rebind<int8_t, WordTag>(), b + j * kLanes * 2));
    }
    WHERRY_UNROLL
    for (int r = 0; r < MR; ++r) {
      const WordVec x = hn::BitCast(words, hn::Set(IntTag(), FourBytes(a[r] + k)));
      WHERRY_UNROLL
      for (int j = 0; j < NV; ++j) acc[r][j] = AddInPlace(acc[r][j], x, w[j]);
    }
  }
}

// Rows [row, row + MR) times NV vectors of columns from `col` on, whose packed bytes begin at b.
template <bool kDot, int MR, int NV>
HWY_NOINLINE void ByteTile(const ByteGemmCall& call, const int8_t* b, int64_t row, int64_t col, int64_t cols) {
  const ByteResult result = call.result;  // a copy: what is stored could be the original
  IntVec offsets[NV];
  LoadOffsets(result, col, offsets);
  IntVec acc[MR][NV];
  WHERRY_UNROLL
  for (int r = 0; r < MR; ++r) {
    WHERRY_UNROLL
    for (int j = 0; j < NV; ++j) acc[r][j] = offsets[j];
  }
  kDot ? AddDots(call, b, row, acc) : AddPairs(call, b, row, acc);
  StoreSums(result, acc, call.row_sums == nullptr ? nullptr : call.row_sums + row, call.row0 + row, col, cols);
}

template <bool kDot, int MR>
void ByteRows(const ByteGemmCall& call, int64_t row, int64_t panel) {
  const auto* const packed = static_cast<const int8_t*>(call.packed);
  const int64_t end = std::min(call.n, (panel + 1) * kBytePanel);
  constexpr int64_t kStep = kTileVectors * kLanes;
  for (int64_t col = panel * kBytePanel; col < end; col += kStep) {
    const int64_t within = col % kSideBySide;
    const int8_t* const b = packed + (col - within) * call.a.packed_depth() + within * (kDot ? 4 : 2);
    const int64_t cols = std::min(kStep, end - col);
    // Half tiles: narrow results would otherwise multiply zeros.
    if (cols <= kStep / 4) {
      ByteTile<kDot, MR, (kTileVectors + 3) / 4>(call, b, row, col, cols);
    } else if (cols <= kStep / 2) {
      ByteTile<kDot, MR, kTileVectors / 2>(call, b, row, col, cols);
    } else {
      ByteTile<kDot, MR, kTileVectors>(call, b, row, col, cols);
    }
  }
}

// Rows [row, row + count) as words.
void WidenRows(const ByteGemmCall& call, int64_t row, int64_t count) {
  const WordTag words;
  const hn::Rebind<uint8_t, WordTag> bytes;
  const hn::FixedTag<int16_t, 4> four_words;
  const hn::Rebind<uint8_t, decltype(four_words)> four_bytes;
  constexpr int64_t kStep = 2 * kLanes;
  for (int64_t r = row; r < row + count; ++r) {
    auto* to = ScratchRow<int16_t>(call, r);
    for (int64_t s = 0; s < call.a.segment_count; ++s, to += call.a.depth) {
      const uint8_t* const from = call.a.segments[s * call.a.pitch + r];
      int64_t i = 0;
      for (; i + kStep <= call.a.depth; i += kStep) {
        hn::StoreU(hn::PromoteTo(words, hn::LoadU(bytes, from + i)), words, to + i);
      }
      for (; i < call.a.depth; i += 4) {
        hn::StoreU(hn::PromoteTo(four_words, hn::LoadU(four_bytes, from + i)), four_words, to + i);
      }
    }
  }
}

template <bool kDot>
void ByteBlock(const ByteGemmCall& call) {
  const int64_t tiles = (call.rows + kMaxRows - 1) / kMaxRows;
  for (int64_t panel = call.panel_begin; panel < call.panel_end; ++panel) {
    for (int64_t t = 0; t < tiles; ++t) {
      const int64_t row = call.rows * t / tiles;
      const int64_t count = call.rows * (t + 1) / tiles - row;
      if (!kDot && panel == call.panel_begin) WidenRows(call, row, count);
      switch (count) {
        case 1: ByteRows<kDot, 1>(call, row, panel); break;
        case 2: ByteRows<kDot, 2>(call, row, panel); break;
        case 3: ByteRows<kDot, 3>(call, row, panel); break;
        case 4: ByteRows<kDot, 4>(call, row, panel); break;
        case 5: ByteRows<kDot, 5>(call, row, panel); break;
        case 6: ByteRows<kDot, 6>(call, row, panel); break;
      }
    }
  }
}

#if HWY_TARGET == HWY_AVX3

// The sums of MR rows from `row` on and two vectors of columns from `col` on, from those of a tile.
template <int MR>
HWY_INLINE void StoreTileSums(const ByteGemmCall& call, const int32_t* tile, int64_t row, int64_t col, int64_t cols) {
  static_assert(kAmxColumns == 2 * kLanes);
  IntVec offsets[2];
  LoadOffsets(call.result, col, offsets);
  IntVec sums[MR][2];
  WHERRY_UNROLL
  for (int r = 0; r < MR; ++r) {
    WHERRY_UNROLL
    for (int j = 0; j < 2; ++j) {
      sums[r][j] = hn::Add(offsets[j], hn::LoadU(IntTag(), tile + r * kAmxColumns + j * kLanes));
    }
  }
  StoreSums(call.result, sums, call.row_sums == nullptr ? nullptr : call.row_sums + row, call.row0 + row, col, cols);
}

// Tiles inner to panels: a panel's columns stay in L2 while the rows pass by.
void TileBlock(const ByteGemmCall& call) {
  for (int64_t r = 0; r < call.rows; ++r) {
    auto* to = ScratchRow<uint8_t>(call, r);
    for (int64_t s = 0; s < call.a.segment_count; ++s, to += call.a.depth) {
      std::memcpy(to, call.a.segments[s * call.a.pitch + r], static_cast<size_t>(call.a.depth));
    }
  }
  AmxTiles tiles;
  alignas(64) int32_t sums[kAmxRows * kAmxColumns];
  AmxProduct product;
  product.row_bytes = call.a.packed_depth();
  product.row_stride = RowScratchBytes(call.form, product.row_bytes);
  const auto* const packed = static_cast<const int8_t*>(call.packed);
  const int64_t end = std::min(call.n, call.panel_end * kBytePanel);
  for (int64_t col = call.panel_begin * kBytePanel; col < end; col += kAmxColumns) {
    const int64_t cols = std::min(kAmxColumns, end - col);
    const int64_t within = col % kBytePanel;
    product.columns = reinterpret_cast<const uint32_t*>(packed + (col - within) * call.a.packed_depth() + within * 4);
    for (int64_t row = 0; row < call.rows; row += kAmxRows) {
      product.rows = ScratchRow<uint8_t>(call, row);
      product.row_count = std::min(kAmxRows, call.rows - row);
      tiles.Multiply<AmxFactors::kBytes>(product, sums);
      int64_t r = 0;
      for (; r + 2 <= product.row_count; r += 2) StoreTileSums<2>(call, sums + r * kAmxColumns, row + r, col, cols);
      if (r < product.row_count) StoreTileSums<1>(call, sums + r * kAmxColumns, row + r, col, cols);
    }
  }
}

#endif

void ByteGemm(const ByteGemmCall& call) {
  switch (call.form) {
    case ByteRowForm::kWords: return ByteBlock<false>(call);
    case ByteRowForm::kSegments:
      if constexpr (kByteDot) ByteBlock<true>(call);
      return;
    case ByteRowForm::kTiles:
#if HWY_TARGET == HWY_AVX3
      TileBlock(call);
#endif
      return;
  }
}

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {

int64_t PackedByteSize(int64_t k, int64_t n) {
  return PaddedBytes64(n) * (PaddedDepth(k) + static_cast<int64_t>(sizeof(int32_t)));
}

const int32_t* PackedColumnSums(const void* packed, int64_t k, int64_t n) {
  return reinterpret_cast<const int32_t*>(static_cast<const char*>(packed) + PaddedBytes64(n) * PaddedDepth(k));
}

ByteLayout ActiveByteLayout() { return {WeightLayout(), HasByteDot(ActiveIsa()) ? 4 : 2}; }

namespace {

// Bytes (i, j) to (i + 3, j), which exist, in the order of memory.
uint32_t FourOfColumn(const ByteMatrix& b, int64_t i, int64_t j) {
  const uint8_t* from = static_cast<const uint8_t*>(b.data) + i * b.row_stride + j * b.col_stride;
  uint32_t four;
  if (b.row_stride == 1) {
    std::memcpy(&four, from, sizeof(four));
  } else {
    const uint8_t bytes[] = {from[0], from[b.row_stride], from[2 * b.row_stride], from[3 * b.row_stride]};
    std::memcpy(&four, bytes, sizeof(four));
  }
  return four;
}

uint32_t FourOfEdge(const ByteMatrix& b, int64_t i, int64_t j, int64_t k, int64_t n, uint8_t flip) {
  uint8_t bytes[4] = {};
  for (int64_t d = 0; d < 4 && i + d < k && j < n; ++d) {
    bytes[d] = static_cast<const uint8_t*>(b.data)[(i + d) * b.row_stride + j * b.col_stride] ^ flip;
  }
  uint32_t four;
  std::memcpy(&four, bytes, sizeof(four));
  return four;
}

// Four bytes of each of `width` columns, in groups of `depth`: 2 or 4.
void StoreFours(const uint32_t* fours, int64_t width, int64_t depth, uint8_t* to) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(fours);
  if (depth == 4) {
    std::memcpy(to, bytes, static_cast<size_t>(4 * width));
    return;
  }
  for (int64_t j = 0; j < width; ++j) {
    std::memcpy(to + 2 * j, bytes + 4 * j, 2);
    std::memcpy(to + 2 * (width + j), bytes + 4 * j + 2, 2);
  }
}

}  // namespace

// Four bytes at a time: a network's products of bytes spent four fifths of loading on one at a time.
void PackBytes(const ByteMatrix& b, int64_t k, int64_t n, void* packed, ByteLayout layout) {
  constexpr uint32_t kSignBits = 0x80808080U;
  constexpr uint32_t kEvenBytes = 0x00FF00FFU;
  const int64_t width = layout.panels == PanelLayout::kRows ? kBytePanel : kPanelStep;
  const int64_t depth = PaddedDepth(k);
  const uint32_t flip = b.is_unsigned ? kSignBits : 0;  // less 128
  auto* to = static_cast<uint8_t*>(packed);
  auto* const sums = reinterpret_cast<uint32_t*>(to + PaddedBytes64(n) * depth);
  for (int64_t first = 0; first < PaddedBytes64(n); first += width) {
    uint32_t sum[kBytePanel] = {};
    for (int64_t i = 0; i < depth; i += 4, to += 4 * width) {
      uint32_t fours[kBytePanel];
      const int64_t whole = i + 4 <= k ? std::clamp<int64_t>(n - first, 0, width) : 0;
      for (int64_t j = 0; j < whole; ++j) fours[j] = FourOfColumn(b, i, first + j) ^ flip;
      for (int64_t j = whole; j < width; ++j) fours[j] = FourOfEdge(b, i, first + j, k, n, static_cast<uint8_t>(flip));
      for (int64_t j = 0; j < width; ++j) {
        const uint32_t more = fours[j] ^ kSignBits;  // 128 more each
        const uint32_t pairs = (more & kEvenBytes) + (more >> 8U & kEvenBytes);
        sum[j] += (pairs & 0xFFFFU) + (pairs >> 16U);
      }
      StoreFours(fours, width, layout.depth, to);
    }
    for (int64_t j = 0; j < width; ++j) sums[first + j] = sum[j] - static_cast<uint32_t>(128 * depth);
  }
}

bool HasByteDot([[maybe_unused]] Isa isa) {
#if defined(__x86_64__)
  const CpuInfo& info = CpuInfo::Get();
  return isa == Isa::kAvx512 ? info.avx512_vnni : isa == Isa::kAvx2 && info.avx_vnni;
#else
  return false;
#endif
}

bool HasByteTiles([[maybe_unused]] Isa isa) {
#if defined(__x86_64__)
  return isa == Isa::kAvx512 && CpuInfo::Get().amx_int8;
#else
  return false;
#endif
}

ByteRowForm PickRowForm(ByteLayout layout, Isa isa, int64_t rows) {
  if (layout.depth == 2) return ByteRowForm::kWords;
  return rows >= kAmxLeastRows && HasByteTiles(isa) ? ByteRowForm::kTiles : ByteRowForm::kSegments;
}

void RunByteGemm(const ByteGemmCall& call, Isa isa) {
  static constexpr auto kTable = WHERRY_ISA_TABLE(ByteGemm);
  if (call.rows > 0 && call.n > 0) kTable.Of(isa)(call);
}

}  // namespace wherry::cpu
#endif  // HWY_ONCE
