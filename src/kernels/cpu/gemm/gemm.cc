#include "kernels/cpu/gemm/gemm.h"

#include <algorithm>

#include "base/cancellation.h"
#include "kernels/cpu/gemm/gemm_call.h"
#include "kernels/cpu/gemm/run_gemm.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gemm/gemm.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/gemm/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

// Row tiles [tile_begin, tile_end) by panels [panel_begin, panel_end), panels inner: the rows of A stay in L1 and the
// panels are taken from L2.
void GemmBlock(const GemmCall& call, const RowTiles& tiles, int64_t tile_begin, int64_t tile_end, int64_t panel_begin,
               int64_t panel_end) {
  for (int64_t t = tile_begin; t < tile_end; ++t) {
    const int64_t row0 = tiles.Begin(t);
    switch (tiles.Begin(t + 1) - row0) {
      case 1: GemmRows<1>(call, row0, panel_begin, panel_end); break;
      case 2: GemmRows<2>(call, row0, panel_begin, panel_end); break;
      case 3: GemmRows<3>(call, row0, panel_begin, panel_end); break;
      case 4: GemmRows<4>(call, row0, panel_begin, panel_end); break;
      case 5: GemmRows<5>(call, row0, panel_begin, panel_end); break;
      case 6: GemmRows<6>(call, row0, panel_begin, panel_end); break;
    }
  }
}

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {
namespace {

// Into how many blocks the row tiles and the panels of a product are cut; each pair of blocks is a chunk.
struct GemmCut {
  int64_t row_blocks = 1;
  int64_t panel_blocks = 1;
};

GemmCut CutGemm(const GemmCall& call, int64_t tiles, int threads) {
  // Chunks of less than this many multiply-adds (4-10 us) are not worth claiming.
  constexpr int64_t kMinWork = int64_t{1} << 19;
  // Weights up to this size stay in L2 beside the rows, so each block of rows may go through all panels. Larger ones
  // are taken a panel at a time, which stays in L2 while the rows pass by.
  constexpr int64_t kSmallWeights = int64_t{512} << 10;
  constexpr int64_t kChunksPerThread = 12;
  // Between chunks a run can be cancelled: none takes more than 20 to 40 ms.
  constexpr int64_t kMostWork = int64_t{1} << 31;
  const int64_t panels = call.b.count;
  const int64_t bytes = call.k * panels * kPanelWidth * static_cast<int64_t>(sizeof(float));
  const int64_t work = call.m * panels * kPanelWidth * std::max<int64_t>(1, call.k);
  const int64_t most = std::max<int64_t>(threads == 1 ? 1 : threads * kChunksPerThread, work / kMostWork);
  const int64_t chunks = std::clamp<int64_t>(work / kMinWork, 1, most);
  GemmCut cut;
  if (bytes <= kSmallWeights && tiles >= chunks) {
    cut.row_blocks = chunks;
  } else {
    cut.panel_blocks = tiles == 1 ? std::min(panels, chunks) : panels;
    cut.row_blocks = std::clamp<int64_t>(chunks / cut.panel_blocks, 1, tiles);
  }
  return cut;
}

void RunChunks(ThreadPool* pool, int64_t chunks, FunctionRef<void(int64_t)> fn) {
  if (pool != nullptr && chunks > 1) {
    pool->Run(chunks, fn);
  } else {
    for (int64_t i = 0; i < chunks; ++i) {
      ThrowIfCancelled();
      fn(i);
    }
  }
}

constexpr auto kGemmBlock = WHERRY_ISA_TABLE(GemmBlock);

void RunCut(GemmCall call, const GemmCut& cut, decltype(kGemmBlock.Active()) block, ThreadPool* pool) {
  if (call.k == 0) {
    // Nothing is read, but pointers into empty matrices, which may be null, would still be moved.
    static constexpr float kNothing[kPanelWidth] = {};
    const int64_t panel_count = call.b.count;
    call.a = {kNothing, 0, 0};
    call.b = {kNothing, 0, 0, kNothing, 0, panel_count};
  }
  const RowTiles tiles(call.m);
  const int64_t panels = call.b.count;
  RunChunks(pool, cut.row_blocks * cut.panel_blocks, [&](int64_t chunk) {
    const int64_t row_block = chunk % cut.row_blocks;
    const int64_t panel_block = chunk / cut.row_blocks;
    block(call, tiles, row_block * tiles.count / cut.row_blocks, (row_block + 1) * tiles.count / cut.row_blocks,
          panel_block * panels / cut.panel_blocks, (panel_block + 1) * panels / cut.panel_blocks);
  });
}

}  // namespace

void RunGemm(const GemmCall& call, ThreadPool* pool) {
  if (call.m == 0 || call.n == 0) return;
  const int threads = pool == nullptr ? 1 : pool->threads();
  RunCut(call, CutGemm(call, RowTiles(call.m).count, threads), kGemmBlock.Active(), pool);
}

void RunGemmOnCaller(const GemmCall& call, Isa isa) {
  if (call.m == 0 || call.n == 0) return;
  RunCut(call, CutGemm(call, RowTiles(call.m).count, 1), kGemmBlock.Of(isa), nullptr);
}

void GemmPacked(const MatrixView& a, const float* packed_b, float* c, int64_t c_stride, int64_t m, int64_t n, int64_t k,
                const TileEpilogue& epilogue, ThreadPool* pool) {
  RunGemm(GemmCall{a, Panels::Packed(packed_b, k, n), c, c_stride, m, n, k, &epilogue, 0}, pool);
}

}  // namespace wherry::cpu
#endif  // HWY_ONCE
