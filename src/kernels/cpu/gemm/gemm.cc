#include "kernels/cpu/gemm/gemm.h"

#include "kernels/cpu/gemm/cut.h"
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
  const RowTilesAhead ahead(call, tiles, tile_begin, tile_end, panel_begin, panel_end);
  for (int64_t t = tile_begin; t < tile_end; ++t) {
    const int64_t row0 = tiles.Begin(t);
    switch (tiles.Begin(t + 1) - row0) {
      case 1: GemmRows<1>(call, t, row0, panel_begin, panel_end, ahead); break;
      case 2: GemmRows<2>(call, t, row0, panel_begin, panel_end, ahead); break;
      case 3: GemmRows<3>(call, t, row0, panel_begin, panel_end, ahead); break;
      case 4: GemmRows<4>(call, t, row0, panel_begin, panel_end, ahead); break;
      case 5: GemmRows<5>(call, t, row0, panel_begin, panel_end, ahead); break;
      case 6: GemmRows<6>(call, t, row0, panel_begin, panel_end, ahead); break;
    }
  }
}

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {
namespace {

constexpr auto kGemmBlock = WHERRY_ISA_TABLE(GemmBlock);
constexpr auto kLayouts = WHERRY_ISA_TABLE(kWeightLayout);

void RunOn(GemmCall call, int threads, decltype(kGemmBlock.Active()) block, ThreadPool* pool) {
  if (call.m == 0 || call.n == 0) return;
  if (call.k == 0) {
    // Nothing is read, but pointers into empty matrices, which may be null, would still be moved.
    static constexpr float kNothing[kPanelWidth] = {};
    const int64_t panel_count = call.b.count;
    call.a = {kNothing, 0, 0};
    call.b = {kNothing, 0, 0, 0, kNothing, 0, panel_count};
  }
  const RowTiles tiles(call.m);
  const int64_t panels = call.b.count;
  const int64_t bytes = call.k * panels * kPanelWidth * static_cast<int64_t>(sizeof(float));
  RunCut(CutGemm(call.m, tiles.count, panels, call.k, bytes, threads), tiles.count, panels, pool,
         [&](int64_t tile_begin, int64_t tile_end, int64_t panel_begin, int64_t panel_end) {
           block(call, tiles, tile_begin, tile_end, panel_begin, panel_end);
         });
}

}  // namespace

PanelLayout WeightLayout() { return *kLayouts.Active(); }

void RunGemm(const GemmCall& call, ThreadPool* pool) {
  RunOn(call, pool == nullptr ? 1 : pool->threads(), kGemmBlock.Active(), pool);
}

void RunGemmOnCaller(const GemmCall& call, Isa isa) { RunOn(call, 1, kGemmBlock.Of(isa), nullptr); }

void RunGemmPanel(const GemmCall& call, int64_t panel, Isa isa) {
  const RowTiles tiles(call.m);
  kGemmBlock.Of(isa)(call, tiles, 0, tiles.count, panel, panel + 1);
}

void GemmPacked(const MatrixView& a, const float* packed_b, float* c, int64_t c_stride, int64_t m, int64_t n, int64_t k,
                const TileEpilogue& epilogue, ThreadPool* pool, PanelLayout layout) {
  RunGemm(GemmCall{a, Panels::Packed(packed_b, k, n, layout), c, c_stride, m, n, k, &epilogue, 0}, pool);
}

}  // namespace wherry::cpu
#endif  // HWY_ONCE
