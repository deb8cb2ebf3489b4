#include "kernels/cpu/gemm/bf16_gemm.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/gemm/amx_tile.h"
#include "kernels/cpu/gemm/cut.h"
#include "kernels/cpu/gemm/gemm_call.h"
#include "kernels/cpu/gemm/word_gemm.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/vector/cast.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gemm/bf16_gemm.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/tile_epilogue-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_AVX3

// acc + the two products of bf16 in each lane. As text, because Highway's target does not have it.
HWY_INLINE FloatVec Dot(FloatVec acc, IntVec a, IntVec w) {
  asm("vdpbf16ps %2, %1, %0" : "+v"(acc.raw) : "v"(a.raw), "v"(w.raw));
  return acc;
}

constexpr int kPanelVectors = static_cast<int>(kPanelWidth / kLanes);

// Rows [row0, row0 + MR) by a panel.
template <int MR>
HWY_NOINLINE void DotTile(const Bf16Gemm& call, int64_t row0, int64_t panel) {
  FloatVec acc[MR][kPanelVectors];
  WHERRY_UNROLL
  for (int r = 0; r < MR; ++r) {
    WHERRY_UNROLL
    for (int j = 0; j < kPanelVectors; ++j) acc[r][j] = Zero();
  }
  const auto* words = reinterpret_cast<const int32_t*>(call.words) + panel * call.row_words * kPanelWidth;
  const BFloat16* a = call.a + row0 * call.k;
  for (int64_t left = call.k; left > 0; left -= 2, a += 2, words += kPanelWidth) {
    IntVec w[kPanelVectors];
    WHERRY_UNROLL
    for (int j = 0; j < kPanelVectors; ++j) w[j] = hn::LoadU(IntTag(), words + j * kLanes);
    WHERRY_UNROLL
    for (int r = 0; r < MR; ++r) {
      int32_t pair = 0;
      if (HWY_LIKELY(left >= 2)) {
        std::memcpy(&pair, a + r * call.k, sizeof(pair));
      } else {
        std::memcpy(&pair, a + r * call.k, sizeof(*a));
      }
      const IntVec x = hn::Set(IntTag(), pair);
      WHERRY_UNROLL
      for (int j = 0; j < kPanelVectors; ++j) acc[r][j] = Dot(acc[r][j], x, w[j]);
    }
  }
  const int64_t col = panel * kPanelWidth;
  StoreTile(acc, *call.epilogue, StridedRows{call.c, call.n, row0, 0}, col, std::min(kPanelWidth, call.n - col));
}

template <int MR>
void DotRows(const Bf16Gemm& call, int64_t row0, int64_t panel_begin, int64_t panel_end) {
  for (int64_t panel = panel_begin; panel < panel_end; ++panel) DotTile<MR>(call, row0, panel);
}

void DotBlock(const Bf16Gemm& call, const RowTiles& tiles, int64_t tile_begin, int64_t tile_end, int64_t panel_begin,
              int64_t panel_end) {
  for (int64_t t = tile_begin; t < tile_end; ++t) {
    const int64_t row0 = tiles.Begin(t);
    switch (tiles.Begin(t + 1) - row0) {
      case 1: DotRows<1>(call, row0, panel_begin, panel_end); break;
      case 2: DotRows<2>(call, row0, panel_begin, panel_end); break;
      case 3: DotRows<3>(call, row0, panel_begin, panel_end); break;
      case 4: DotRows<4>(call, row0, panel_begin, panel_end); break;
      case 5: DotRows<5>(call, row0, panel_begin, panel_end); break;
      case 6: DotRows<6>(call, row0, panel_begin, panel_end); break;
    }
  }
}

void TileBlock(const Bf16Gemm& call, int64_t tile_begin, int64_t tile_end, int64_t panel_begin, int64_t panel_end) {
  AmxTiles tiles;
  alignas(64) float sums[kAmxRows * kAmxColumns];
  for (int64_t t = tile_begin; t < tile_end; ++t) {
    AmxProduct product;
    const int64_t row0 = t * kAmxRows;
    product.rows = call.a + row0 * call.k;
    product.row_stride = product.row_bytes = call.k * static_cast<int64_t>(sizeof(*call.a));
    product.row_count = std::min(kAmxRows, call.m - row0);
    for (int64_t col = panel_begin * kPanelWidth; col < std::min(call.n, panel_end * kPanelWidth); col += kAmxColumns) {
      product.columns = call.words + col / kPanelWidth * call.row_words * kPanelWidth + col % kPanelWidth;
      tiles.Multiply<AmxFactors::kBFloat16>(product, sums);
      StoreBufferedTile(
          BufferedTile<StridedRows>{*call.epilogue, sums, kAmxColumns, static_cast<int>(product.row_count),
                                    StridedRows{call.c, call.n, row0, 0}, col, std::min(kAmxColumns, call.n - col)});
    }
  }
}

#endif

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {
namespace {

using DotBlockFn = void (*)(const Bf16Gemm&, const RowTiles&, int64_t, int64_t, int64_t, int64_t);
using TileBlockFn = void (*)(const Bf16Gemm&, int64_t, int64_t, int64_t, int64_t);
#if defined(__x86_64__) && WHERRY_X86_ISAS == 3
constexpr bool kHasBodies = true;
constexpr DotBlockFn kDotBlock = &N_AVX3::DotBlock;
constexpr TileBlockFn kTileBlock = &N_AVX3::TileBlock;
#else
constexpr bool kHasBodies = false;
constexpr DotBlockFn kDotBlock = nullptr;
constexpr TileBlockFn kTileBlock = nullptr;
#endif

// block(tile_begin, tile_end, panel_begin, panel_end) for all of a product in tiles of rows.
void RunBlocks(const Bf16Gemm& call, int64_t tiles, ThreadPool* pool,
               FunctionRef<void(int64_t, int64_t, int64_t, int64_t)> block) {
  const int64_t panels = PanelsOf(call.n);
  const int64_t bytes = panels * kPanelWidth * call.row_words * static_cast<int64_t>(sizeof(uint32_t));
  // Two products in the time of one of f32, or more.
  const int64_t depth = call.k / 2;
  RunCut(CutGemm(call.m, tiles, panels, depth, bytes, pool == nullptr ? 1 : pool->threads()), tiles, panels, pool,
         block);
}

// Without the rows.
WordGemm AsWords(const Bf16Gemm& call) {
  WordGemm gemm;
  gemm.a_stride = call.k;
  gemm.words = call.words;
  gemm.row_words = call.row_words;
  gemm.type = WordType::kBFloat16;
  gemm.c = call.c;
  gemm.c_stride = call.n;
  gemm.m = call.m;
  gemm.n = call.n;
  gemm.k = call.k;
  gemm.epilogue = call.epilogue;
  return gemm;
}

// scratch: all rows as floats, then what their product needs.
void RunWords(const Bf16Gemm& call, float* scratch, ThreadPool* pool) {
  const TypedTile widen = CastTileOf(DataType::kBF16, DataType::kFloat);
  constexpr int64_t kMinElements = 1 << 15;
  ParallelFor(pool, call.m * call.k, kMinElements, [&](int64_t begin, int64_t end) {
    widen(call.a + begin, nullptr, nullptr, scratch + begin, end - begin);
  });
  WordGemm gemm = AsWords(call);
  gemm.a = scratch;
  RunWordGemm(gemm, scratch + call.m * call.k, pool);
}

}  // namespace

Bf16Method PickBf16Method(int64_t rows) {
  const CpuInfo& info = CpuInfo::Get();
  if (kHasBodies && ActiveIsa() == kIsas.back()) {
    if (info.amx_bf16 && rows >= kAmxLeastRows) return Bf16Method::kTiles;
    if (info.avx512_bf16) return Bf16Method::kDots;
  }
  return Bf16Method::kWords;
}

size_t Bf16ScratchBytes(const Bf16Gemm& call, Bf16Method method, int threads) {
  if (method != Bf16Method::kWords) return 0;
  return static_cast<size_t>(call.m * call.k) * sizeof(float) + WordGemmScratchBytes(AsWords(call), threads);
}

void RunBf16Gemm(const Bf16Gemm& call, Bf16Method method, void* scratch, ThreadPool* pool) {
  if (call.m == 0 || call.n == 0) return;
  switch (method) {
    case Bf16Method::kTiles:
      return RunBlocks(call, (call.m + kAmxRows - 1) / kAmxRows, pool, [&](auto... at) { kTileBlock(call, at...); });
    case Bf16Method::kDots: {
      const RowTiles tiles(call.m);
      return RunBlocks(call, tiles.count, pool, [&](auto... at) { kDotBlock(call, tiles, at...); });
    }
    case Bf16Method::kWords: return RunWords(call, static_cast<float*>(scratch), pool);
  }
}

}  // namespace wherry::cpu
#endif  // HWY_ONCE
