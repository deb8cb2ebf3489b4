// Products with unpacked right-hand sides: how each is brought into panels.
#include <algorithm>

#include "kernels/cpu/gemm/dot_products.h"
#include "kernels/cpu/gemm/gemm.h"
#include "kernels/cpu/gemm/gemm_call.h"
#include "kernels/cpu/gemm/run_gemm.h"
#include "kernels/cpu/share_out.h"

namespace wherry::cpu {
namespace {

// Up to two row tiles, copying a row-major B costs more than the micro-kernel loses by reading it where it lies.
constexpr int64_t kMaxRowsInPlace = 2 * RowTiles::kMaxHeight;

enum class BatchPlan {
  kDots,        // one column, or one row of a transposed b: nothing is packed
  kOneProduct,  // a and b do not change, or only a's rows go on: one product with more rows
  kEachInTurn,  // few products: every thread works on the same one
  kPerThread,   // many products: each is one thread's
};

struct Plan {
  BatchPlan kind;
  bool in_place;        // B's whole panels are read where they lie
  int64_t slot_floats;  // packed panels of one product
  int64_t slots;
};

// Whether b is the same for all products.
bool SharesB(const BatchedGemm& g) { return g.packed_b != nullptr || g.b_batch_stride == 0; }

// All rows of the batch are like those of one product.
bool RowsGoOn(const BatchedGemm& g) {
  return SharesB(g) && g.a_batch_stride == g.m * g.a.row_stride && g.c_batch_stride == g.m * g.c_stride;
}

// Where panels would be filled with zeros, or b transposed for a single row.
bool IsDots(const BatchedGemm& g) {
  if (g.packed_b != nullptr || g.a.col_stride != 1 || g.b.row_stride != 1) return false;
  const bool one_row = g.m == 1 && (g.batch == 1 || !RowsGoOn(g)) && g.b.col_stride != 1;
  return one_row || (g.n == 1 && g.c_stride == 1);
}

DotBatch DotsOf(const BatchedGemm& g) {
  DotBatch dots;
  dots.first.k = g.k;
  dots.first.out = g.c;
  dots.first.epilogue_row = g.epilogue_row0;
  dots.out_stride = g.c_batch_stride;
  if (g.n == 1) {
    const bool as_one = RowsGoOn(g);
    dots.first.rows = g.a.data;
    dots.first.row_stride = g.a.row_stride;
    dots.first.count = as_one ? g.m * g.batch : g.m;
    dots.first.x = g.b.data;
    dots.first.is_column = true;
    dots.batch = as_one ? 1 : g.batch;
    dots.rows_stride = g.a_batch_stride;
    dots.x_stride = g.b_batch_stride;
  } else {
    dots.first.rows = g.b.data;
    dots.first.row_stride = g.b.col_stride;
    dots.first.count = g.n;
    dots.first.x = g.a.data;
    dots.batch = g.batch;
    dots.rows_stride = g.b_batch_stride;
    dots.x_stride = g.a_batch_stride;
  }
  return dots;
}

Plan MakePlan(const BatchedGemm& g, int threads) {
  Plan plan;
  plan.in_place = g.b.col_stride == 1 && g.m <= kMaxRowsInPlace;
  const bool rows_go_on = RowsGoOn(g);
  if (IsDots(g)) {
    plan.kind = BatchPlan::kDots;
    plan.slot_floats = plan.slots = 0;
    return plan;
  }
  if (g.batch == 1 || rows_go_on) {
    plan.kind = BatchPlan::kOneProduct;
    plan.in_place = g.b.col_stride == 1 && g.m * g.batch <= kMaxRowsInPlace;
  } else if (threads > 1 && !SharesB(g) && g.batch >= 2 * threads) {
    plan.kind = BatchPlan::kPerThread;
  } else {
    plan.kind = BatchPlan::kEachInTurn;
  }
  // In place, only a last panel that is not whole is copied.
  const int64_t packed_columns = g.packed_b != nullptr ? 0 : plan.in_place ? g.n % kPanelWidth : g.n;
  plan.slot_floats = PackedFloats(g.k, packed_columns);
  plan.slots = plan.kind == BatchPlan::kPerThread ? threads : 1;
  return plan;
}

Panels MakePanels(const BatchedGemm& g, bool in_place, const MatrixView& b, float* slot, ThreadPool* pool) {
  if (g.packed_b != nullptr) return Panels::Packed(g.packed_b, g.k, g.n, g.packed_layout);
  if (!in_place) {
    PackB(b, g.k, g.n, slot, pool);
    return Panels::Packed(slot, g.k, g.n);
  }
  Panels panels;
  panels.data = b.data;
  panels.panel_stride = kPanelWidth;
  panels.row_stride = b.row_stride;
  panels.count = PanelsOf(g.n);
  const int64_t last_col = std::max<int64_t>(0, panels.count - 1) * kPanelWidth;
  if (g.n % kPanelWidth == 0) {
    panels.last = b.data + last_col;
    panels.last_row_stride = b.row_stride;
  } else {
    PackB({b.data + last_col, b.row_stride, 1}, g.k, g.n - last_col, slot, nullptr);
    panels.last = slot;
  }
  return panels;
}

GemmCall CallOf(const BatchedGemm& g, int64_t i, const Panels& panels, const TileEpilogue& epilogue) {
  GemmCall call;
  call.a = g.a;
  call.a.data += i * g.a_batch_stride;
  call.b = panels;
  call.c = g.c + i * g.c_batch_stride;
  call.c_stride = g.c_stride;
  call.m = g.m;
  call.n = g.n;
  call.k = g.k;
  call.epilogue = &epilogue;
  call.epilogue_row0 = g.epilogue_row0 + i * g.m;
  return call;
}

MatrixView ItemB(const BatchedGemm& g, int64_t i) {
  MatrixView b = g.b;
  b.data += i * g.b_batch_stride;
  return b;
}

}  // namespace

int64_t BatchedGemmScratchFloats(const BatchedGemm& gemm, int threads) {
  const Plan plan = MakePlan(gemm, threads);
  return plan.slots * plan.slot_floats;
}

void RunBatchedGemm(const BatchedGemm& gemm, const TileEpilogue& epilogue, float* scratch, ThreadPool* pool) {
  if (gemm.batch == 0 || gemm.m == 0 || gemm.n == 0) return;
  const int threads = pool == nullptr ? 1 : pool->threads();
  const Plan plan = MakePlan(gemm, threads);
  switch (plan.kind) {
    case BatchPlan::kDots: return RunDotProducts(DotsOf(gemm), epilogue, pool);
    case BatchPlan::kOneProduct: {
      GemmCall call = CallOf(gemm, 0, MakePanels(gemm, plan.in_place, gemm.b, scratch, pool), epilogue);
      call.m = gemm.m * gemm.batch;
      RunGemm(call, pool);
      return;
    }
    case BatchPlan::kEachInTurn: {
      Panels panels;
      for (int64_t i = 0; i < gemm.batch; ++i) {
        if (i == 0 || !SharesB(gemm)) panels = MakePanels(gemm, plan.in_place, ItemB(gemm, i), scratch, pool);
        RunGemm(CallOf(gemm, i, panels, epilogue), pool);
      }
      return;
    }
    case BatchPlan::kPerThread: {
      const Isa isa = ActiveIsa();
      ShareOut(pool, plan.slots, gemm.batch, [&](int64_t slot, const auto& next) {
        float* const packed = scratch + slot * plan.slot_floats;
        for (int64_t i = next(); i >= 0; i = next()) {
          const Panels panels = MakePanels(gemm, plan.in_place, ItemB(gemm, i), packed, nullptr);
          RunGemmOnCaller(CallOf(gemm, i, panels, epilogue), isa);
        }
      });
      return;
    }
  }
}

}  // namespace wherry::cpu
