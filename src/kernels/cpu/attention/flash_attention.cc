#include "kernels/cpu/attention/flash_attention.h"

#include <algorithm>
#include <limits>

#include "base/cancellation.h"
#include "base/check.h"
#include "kernels/cpu/attention/flash_block.h"
#include "kernels/cpu/gemm/gemm_call.h"
#include "kernels/cpu/gemm/run_gemm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention/flash_attention.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/attention/tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

// scores[j] = query `row` times key k0 + j.
void DirectScores(const FlashHead& head, int64_t row, int64_t k0, int64_t n, float* scores) {
  const float* const q = head.query + row * head.query_stride;
  const int64_t whole = head.size / kLanes * kLanes;
  for (int64_t j = 0; j < n; ++j) {
    const float* const k = head.key + (k0 + j) * head.key_stride;
    FloatVec sum[2] = {Zero(), Zero()};
    int64_t d = 0;
    for (; d + 2 * kLanes <= whole; d += 2 * kLanes) {
      sum[0] = hn::MulAdd(Load(q + d), Load(k + d), sum[0]);
      sum[1] = hn::MulAdd(Load(q + d + kLanes), Load(k + d + kLanes), sum[1]);
    }
    if (d < whole) sum[0] = hn::MulAdd(Load(q + d), Load(k + d), sum[0]);
    if (whole < head.size) {
      const int64_t rest = head.size - whole;
      sum[1] = hn::MulAdd(LoadN(q + whole, rest), LoadN(k + whole, rest), sum[1]);
    }
    scores[j] = SumOp().Lanes(hn::Add(sum[0], sum[1]));
  }
}

// The form of whole tiles whose queries see all their keys.
ScoreForm WholeForm(const FlashHead& head) {
  if (ScaleLast(head)) return ScoreForm::kPlain;
  return head.added != nullptr && head.mask_key_stride == 1 ? ScoreForm::kAdded : ScoreForm::kLater;
}

// Queries [row0, row0 + MR) meet the first `seen` keys of the block, all that the last of them sees.
template <int MR>
void MeetRows(const FlashHead& head, const FlashBlock& block, int64_t row0, int64_t seen, Running* running) {
  FloatVec best[MR];
  for (int r = 0; r < MR; ++r) best[r] = Set(-std::numeric_limits<float>::infinity());
  const ScoreForm whole = WholeForm(head);
  // Keys that the first query sees.
  const int64_t all_see = std::min(seen, head.visible + row0 - block.k0);
  for (int64_t j = 0; j < seen; j += kPanelColumns) {
    const int64_t columns = ColumnsOf(j, block.n);
    const int64_t cols = std::min(columns, seen - j);
    const ScoreForm form = j + cols <= all_see ? whole : ScoreForm::kLater;
    const float* const added =
        form == ScoreForm::kAdded ? head.added + row0 * head.mask_query_stride + block.k0 + j : nullptr;
    float* const scores = block.scores + j;
    const int64_t live = form == ScoreForm::kLater ? columns : cols;
    WithVectors(columns, ScoresBody<MR>{head, form, row0, block.keys + j * head.size, live, added, scores, best});
    if (form != ScoreForm::kLater) continue;
    for (int r = 0; r < MR; ++r) {
      const int64_t sees = std::clamp<int64_t>(head.visible + row0 + r - block.k0 - j, 0, cols);
      MaskScores(head, row0 + r, block.k0 + j, sees, columns, scores + r * kFlashKeyBlock, best + r);
    }
  }
  float shrink[MR];
  float factor[MR];
  const bool last = block.k0 + block.n >= std::min(head.keys, head.visible + row0 + MR - 1);
  WeighRows<MR>(head, best, seen, block.scores, kFlashKeyBlock, running, shrink);
  for (int r = 0; r < MR; ++r) factor[r] = last ? LastFactor(head, running[r].sum) : 1.0f;
  const Onto onto{block.k0 == 0 ? nullptr : shrink, factor};
  for (int64_t j = 0; j < head.value_size; j += kPanelColumns) {
    const float* const panel = block.values + j * block.n;
    float* const out = head.out + row0 * head.out_stride + j;
    const int64_t cols = std::min(kPanelColumns, head.value_size - j);
    WithVectors(ColumnsOf(j, head.value_size),
                ValuesBody<MR>{block.scores, seen, panel, onto, out, head.out_stride, cols});
  }
}

// The results of queries that see nothing.
void FillRows(const FlashHead& head, int64_t begin, int64_t end) {
  const float x = 0.0f * LastFactor(head, 0.0f);
  for (int64_t r = begin; r < end; ++r) std::fill_n(head.out + r * head.out_stride, head.value_size, x);
}

void PackBlock(const FlashHead& head, const FlashBlock& block) {
  PackKeys(head, block.k0, block.n, block.keys);
  PackValues(head, block.k0, block.n, block.values);
}

void MeetBlock(const FlashHead& head, const FlashBlock& block, int64_t begin, int64_t end, Running* running) {
  const RowTiles tiles(end - begin);
  for (int64_t t = 0; t < tiles.count; ++t) {
    const int64_t row0 = begin + tiles.Begin(t);
    const int64_t rows = tiles.Begin(t + 1) - tiles.Begin(t);
    const int64_t seen = std::min(block.n, head.visible + row0 + rows - 1 - block.k0);
    Running* const of_rows = running + (row0 - begin);
    if (seen <= 0) {
      if (block.k0 == 0) FillRows(head, row0, row0 + rows);
      continue;
    }
    switch (rows) {  // of more than three there are no fewer in a tile
      case 3: MeetRows<3>(head, block, row0, seen, of_rows); break;
      case 4: MeetRows<4>(head, block, row0, seen, of_rows); break;
      case 5: MeetRows<5>(head, block, row0, seen, of_rows); break;
      case 6: MeetRows<6>(head, block, row0, seen, of_rows); break;
    }
  }
}

// The weights of one query, scores by dot products with keys where they lie. Returns what the result so far is to be
// multiplied by.
float DirectWeights(const FlashHead& head, int64_t row, int64_t k0, int64_t n, float* scores, Running* running) {
  DirectScores(head, row, k0, n, scores);
  FloatVec best[1] = {Set(-std::numeric_limits<float>::infinity())};
  MaskScores(head, row, k0, std::clamp<int64_t>(head.visible + row - k0, 0, n), WholeVectors(n), scores, best);
  float shrink[1];
  WeighRows<1>(head, best, n, scores, n, running, shrink);
  return shrink[0];
}

void ScaleRow(float* x, int64_t n, float factor) {
  const FloatVec f = Set(factor);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) Store(hn::Mul(Load(x + i), f), x + i);
  if (i < n) StoreN(hn::Mul(LoadN(x + i, n - i), f), x + i, n - i);
}

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {
namespace {

// Up to so many queries read the keys where they lie; for more, bringing those into panels pays.
constexpr int64_t kMaxDirectQueries = 3;
// Panels are as wide as whole vectors, of which 16 is a multiple in every instruction set.
constexpr int64_t WidestVectors(int64_t n) { return (n + kPanelStep - 1) / kPanelStep * kPanelStep; }
bool ValuesInPlace(int64_t value_size) { return value_size % kPanelStep == 0; }

struct Scratch {
  Running* running;
  float* scores;
  float* keys;
  float* values;
};

constexpr auto kDirectWeights = WHERRY_ISA_TABLE(DirectWeights);
constexpr auto kScaleRow = WHERRY_ISA_TABLE(ScaleRow);
constexpr auto kPackBlock = WHERRY_ISA_TABLE(PackBlock);
constexpr auto kMeetBlock = WHERRY_ISA_TABLE(MeetBlock);
constexpr auto kFillRows = WHERRY_ISA_TABLE(FillRows);

Panels ValuesOf(const FlashHead& head, int64_t k0, int64_t n, float* packed) {
  const float* const values = head.value + k0 * head.value_stride;
  if (!ValuesInPlace(head.value_size)) {
    PackB({values, head.value_stride, 1}, n, head.value_size, packed, nullptr);
    return Panels::Packed(packed, n, head.value_size);
  }
  Panels panels;
  panels.data = values;
  panels.panel_stride = kPanelWidth;
  panels.row_stride = head.value_stride;
  panels.count = (head.value_size + kPanelWidth - 1) / kPanelWidth;
  panels.last = values + (panels.count - 1) * kPanelWidth;
  panels.last_row_stride = head.value_stride;
  return panels;
}

// Queries [begin, end) meet keys [k0, k0 + n) where they lie.
void MeetDirectly(const FlashHead& head, int64_t begin, int64_t end, int64_t k0, int64_t n, const Scratch& scratch,
                  Isa isa) {
  for (int64_t r = begin; r < end; ++r) {
    const int64_t i = r - begin;
    const float shrink =
        kDirectWeights.Of(isa)(head, r, k0, n, scratch.scores + i * kFlashKeyBlock, scratch.running + i);
    if (k0 > 0 && shrink != 1.0f) kScaleRow.Of(isa)(head.out + r * head.out_stride, head.value_size, shrink);
  }
  TileEpilogue onto;
  if (k0 > 0) onto.Add(head.out, head.out_stride);
  GemmCall call;
  call.a = {scratch.scores, kFlashKeyBlock, 1};
  call.b = ValuesOf(head, k0, n, scratch.values);
  call.c = head.out + begin * head.out_stride;
  call.c_stride = head.out_stride;
  call.m = end - begin;
  call.n = head.value_size;
  call.k = n;
  call.epilogue = &onto;
  call.epilogue_row0 = begin;
  RunGemmOnCaller(call, isa);
}

void AttendDirectly(const FlashHead& head, int64_t begin, int64_t end, int64_t keys, const Scratch& scratch, Isa isa) {
  for (int64_t k0 = 0; k0 < keys; k0 += kFlashKeyBlock) {
    MeetDirectly(head, begin, end, k0, std::min(kFlashKeyBlock, keys - k0), scratch, isa);
  }
  for (int64_t r = begin; r < end; ++r) {
    kScaleRow.Of(isa)(head.out + r * head.out_stride, head.value_size,
                      LastFactor(head, scratch.running[r - begin].sum));
  }
}

}  // namespace

int64_t FlashScratchFloats(int64_t size, int64_t value_size) {
  const int64_t values = std::max(kFlashKeyBlock * WidestVectors(value_size),
                                  ValuesInPlace(value_size) ? 0 : PackedFloats(kFlashKeyBlock, value_size));
  return kFlashKeyBlock * RowTiles::kMaxHeight + kFlashKeyBlock * size + values;
}

void RunFlashAttention(const FlashHead& head, int64_t begin, int64_t end, float* scratch, Isa isa) {
  WHERRY_CHECK(end - begin <= kFlashMaxQueries, end - begin, " queries at once");
  if (begin == end || head.value_size == 0) return;
  // Of the keys, those that the last query sees.
  const int64_t keys = std::clamp<int64_t>(head.visible + end - 1, 0, head.keys);
  if (keys == 0) return kFillRows.Of(isa)(head, begin, end);
  Scratch at;
  at.scores = scratch;
  at.keys = at.scores + kFlashKeyBlock * RowTiles::kMaxHeight;
  at.values = at.keys + kFlashKeyBlock * head.size;
  Running running[kFlashMaxQueries];
  std::fill_n(running, end - begin, Running{-std::numeric_limits<float>::infinity(), 0.0f});
  at.running = running;
  if (end - begin <= kMaxDirectQueries) return AttendDirectly(head, begin, end, keys, at, isa);
  const int64_t blocks = (keys + kFlashKeyBlock - 1) / kFlashKeyBlock;
  const int64_t step = WidestVectors((keys + blocks - 1) / blocks);
  for (int64_t k0 = 0; k0 < keys; k0 += step) {
    ThrowIfCancelled();
    const FlashBlock block{k0, std::min(step, keys - k0), at.keys, at.values, at.scores};
    kPackBlock.Of(isa)(head, block);
    kMeetBlock.Of(isa)(head, block, begin, end, at.running);
  }
}

}  // namespace wherry::cpu
#endif  // HWY_ONCE
