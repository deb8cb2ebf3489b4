#include "kernels/cpu/attention/flash_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "kernels/cpu/gemm/gemm_call.h"
#include "kernels/cpu/gemm/run_gemm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention/flash_attention.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/simd/math-inl.h"
#include "kernels/cpu/vector/reduce-inl.h"

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

// scores = scale * scores + added, or masked_score where not allowed.
void MaskScores(const FlashHead& head, int64_t row, int64_t k0, int64_t live, float* scores) {
  const int64_t place = row * head.mask_query_stride + k0 * head.mask_key_stride;
  const FloatVec scale = Set(head.scale);
  const bool one = head.mask_key_stride == 0;
  int64_t j = 0;
  if (head.allowed != nullptr) {
    const bool* const allowed = head.allowed + place;
    const float masked = head.masked_score;
    if (one) {
      for (; j + kLanes <= live; j += kLanes)
        Store(allowed[0] ? hn::Mul(Load(scores + j), scale) : Set(masked), scores + j);
    } else {
      const hn::Rebind<uint8_t, FloatTag> bytes;
      for (; j + kLanes <= live; j += kLanes) {
        const auto flags = hn::PromoteTo(IntTag(), hn::LoadU(bytes, reinterpret_cast<const uint8_t*>(allowed + j)));
        const FloatMask keep = hn::RebindMask(FloatTag(), hn::Ne(flags, hn::Zero(IntTag())));
        Store(hn::IfThenElse(keep, hn::Mul(Load(scores + j), scale), Set(masked)), scores + j);
      }
    }
    for (; j < live; ++j) scores[j] = allowed[one ? 0 : j] ? scores[j] * head.scale : masked;
  } else if (head.added != nullptr && !one) {
    const float* const added = head.added + place;
    for (; j + kLanes <= live; j += kLanes) Store(hn::MulAdd(Load(scores + j), scale, Load(added + j)), scores + j);
    for (; j < live; ++j) scores[j] = scores[j] * head.scale + added[j];
  } else {
    const float added = head.added == nullptr ? 0.0f : head.added[place];
    for (; j + kLanes <= live; j += kLanes) Store(hn::MulAdd(Load(scores + j), scale, Set(added)), scores + j);
    for (; j < live; ++j) scores[j] = scores[j] * head.scale + added;
  }
}

// The scores of query `row` and keys [k0, k0 + n) become e^(score - maximum), 0 where the query does not see the key.
// `maximum` (before the scale, where nothing is added) and `sum` are those of the query so far. Returns what its result
// so far is to be multiplied by.
float TakeScores(const FlashHead& head, int64_t row, int64_t k0, int64_t n, float* scores, float* maximum, float* sum) {
  const int64_t live = std::clamp<int64_t>(head.visible + row - k0, 0, n);
  // Where nothing is added the scale goes into the exponent. The maximum is subtracted first: of scores about 1e11 the
  // product's rounding error is in the thousands, and e to that is infinite.
  const bool plain = head.added == nullptr && head.allowed == nullptr && head.scale > 0.0f;
  if (!plain) MaskScores(head, row, k0, live, scores);
  const float factor = plain ? head.scale : 1.0f;
  // It may lose a NaN: the exponentials bring it back.
  const float largest = ReduceMapped<NumberMaxOp>(scores, live, Identity());
  const float before = *maximum;
  const float after = largest > before ? largest : before;
  // With all scores -inf so far, every exponential is to be 0.
  const float base = after == -std::numeric_limits<float>::infinity() ? 0.0f : after;
  const FloatVec f = Set(factor);
  const FloatVec origin = Set(base);
  FloatVec sum0 = Zero();
  FloatVec sum1 = Zero();
  int64_t j = 0;
  for (; j + 2 * kLanes <= live; j += 2 * kLanes) {
    const FloatVec e0 = Exp(hn::Mul(hn::Sub(Load(scores + j), origin), f));
    const FloatVec e1 = Exp(hn::Mul(hn::Sub(Load(scores + j + kLanes), origin), f));
    Store(e0, scores + j);
    Store(e1, scores + j + kLanes);
    sum0 = hn::Add(sum0, e0);
    sum1 = hn::Add(sum1, e1);
  }
  for (; j < live; j += kLanes) {
    const int64_t rest = std::min(kLanes, live - j);
    const FloatVec e = KeepN(Exp(hn::Mul(hn::Sub(LoadN(scores + j, rest), origin), f)), rest);
    StoreN(e, scores + j, rest);
    sum0 = hn::Add(sum0, e);
  }
  std::fill(scores + live, scores + n, 0.0f);
  const float shrink = std::exp((before - base) * factor);
  *maximum = after;
  *sum = *sum * shrink + SumOp().Lanes(hn::Add(sum0, sum1));
  return shrink;
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

// Keys of a block: as many scores as stay in L1 beside a block of queries, and the block's keys and values in L2.
constexpr int64_t kKeyBlock = 256;
constexpr int64_t kQueryBlock = 24;
// Up to so many queries read the keys where they lie; for more, bringing those into panels pays.
constexpr int64_t kMaxDirectQueries = 3;

bool ValuesInPlace(int64_t value_size) { return value_size % 16 == 0; }  // whole vectors of every instruction set

struct Scratch {
  float* keys;
  float* values;
  float* scores;
  float* maximum;
  float* sum;
};

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

constexpr auto kDirectScores = WHERRY_ISA_TABLE(DirectScores);
constexpr auto kTakeScores = WHERRY_ISA_TABLE(TakeScores);
constexpr auto kScaleRow = WHERRY_ISA_TABLE(ScaleRow);

// Queries [r0, r1) meet keys [k0, k0 + n).
void Meet(const FlashHead& head, int64_t begin, int64_t r0, int64_t r1, int64_t k0, int64_t n, bool direct,
          const Panels& values, const Scratch& scratch, Isa isa) {
  static const TileEpilogue plain;
  const int64_t rows = r1 - r0;
  if (direct) {
    for (int64_t r = r0; r < r1; ++r) kDirectScores.Of(isa)(head, r, k0, n, scratch.scores + (r - r0) * kKeyBlock);
  } else {
    GemmCall call;
    call.a = {head.query + r0 * head.query_stride, head.query_stride, 1};
    call.b = Panels::Packed(scratch.keys, head.size, n);
    call.c = scratch.scores;
    call.c_stride = kKeyBlock;
    call.m = rows;
    call.n = n;
    call.k = head.size;
    call.epilogue = &plain;
    RunGemmOnCaller(call, isa);
  }
  for (int64_t r = r0; r < r1; ++r) {
    const float shrink = kTakeScores.Of(isa)(head, r, k0, n, scratch.scores + (r - r0) * kKeyBlock,
                                             scratch.maximum + (r - begin), scratch.sum + (r - begin));
    if (k0 > 0 && shrink != 1.0f) kScaleRow.Of(isa)(head.out + r * head.out_stride, head.value_size, shrink);
  }
  TileEpilogue onto;
  if (k0 > 0) onto.Add(head.out, head.out_stride);
  GemmCall call;
  call.a = {scratch.scores, kKeyBlock, 1};
  call.b = values;
  call.c = head.out + r0 * head.out_stride;
  call.c_stride = head.out_stride;
  call.m = rows;
  call.n = head.value_size;
  call.k = n;
  call.epilogue = &onto;
  call.epilogue_row0 = r0;
  RunGemmOnCaller(call, isa);
}

}  // namespace

int64_t FlashScratchFloats(int64_t size, int64_t value_size) {
  return PackedFloats(size, kKeyBlock) + (ValuesInPlace(value_size) ? 0 : PackedFloats(kKeyBlock, value_size)) +
         kQueryBlock * kKeyBlock + 2 * kFlashMaxQueries;
}

void RunFlashAttention(const FlashHead& head, int64_t begin, int64_t end, float* scratch, Isa isa) {
  WHERRY_CHECK(end - begin <= kFlashMaxQueries, end - begin, " queries at once");
  if (begin == end || head.value_size == 0) return;
  Scratch at;
  at.keys = scratch;
  at.values = at.keys + PackedFloats(head.size, kKeyBlock);
  at.scores = at.values + (ValuesInPlace(head.value_size) ? 0 : PackedFloats(kKeyBlock, head.value_size));
  at.maximum = at.scores + kQueryBlock * kKeyBlock;
  at.sum = at.maximum + kFlashMaxQueries;
  std::fill_n(at.maximum, end - begin, -std::numeric_limits<float>::infinity());
  std::fill_n(at.sum, end - begin, 0.0f);
  const bool direct = end - begin <= kMaxDirectQueries;
  // Of the keys, those that the last query sees.
  const int64_t keys = std::clamp<int64_t>(head.visible + end - 1, 0, head.keys);
  for (int64_t k0 = 0; k0 < keys; k0 += kKeyBlock) {
    const int64_t n = std::min(kKeyBlock, keys - k0);
    if (!direct) PackB({head.key + k0 * head.key_stride, 1, head.key_stride}, head.size, n, at.keys, nullptr);
    const Panels values = ValuesOf(head, k0, n, at.values);
    for (int64_t r0 = begin; r0 < end; r0 += kQueryBlock) {
      const int64_t r1 = std::min(end, r0 + kQueryBlock);
      // Queries that see nothing of the first block get zeros there, of a later one nothing.
      const int64_t seen = std::min(n, head.visible + r1 - 1 - k0);
      if (seen > 0) {
        Meet(head, begin, r0, r1, k0, seen, direct, values, at, isa);
      } else if (k0 == 0) {
        for (int64_t r = r0; r < r1; ++r) std::fill_n(head.out + r * head.out_stride, head.value_size, 0.0f);
      }
    }
  }
  for (int64_t r = begin; r < end; ++r) {
    float* const out = head.out + r * head.out_stride;
    if (keys == 0) std::fill_n(out, head.value_size, 0.0f);
    const float sum = at.sum[r - begin];
    kScaleRow.Of(isa)(out, head.value_size, sum == 0.0f && head.zero_masked_rows ? 0.0f : 1.0f / sum);
  }
}

}  // namespace wherry::cpu
#endif  // HWY_ONCE
