// What becomes of a query's scores: masks, the running maximum, exponentials and their sum. Per-instruction-set header:
// the guard toggles.
#if defined(WHERRY_KERNELS_CPU_ATTENTION_WEIGHTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WHERRY_KERNELS_CPU_ATTENTION_WEIGHTS_INL_H_
#undef WHERRY_KERNELS_CPU_ATTENTION_WEIGHTS_INL_H_
#else
#define WHERRY_KERNELS_CPU_ATTENTION_WEIGHTS_INL_H_
#endif

#include <algorithm>
#include <limits>

#include "kernels/cpu/attention/flash_block.h"
#include "kernels/cpu/simd/math-inl.h"
#include "kernels/cpu/vector/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {

// Where nothing is added the scale goes into the exponent. The maximum is subtracted first: of scores about 1e11 the
// product's rounding error is in the thousands, and e to that is infinite.
HWY_INLINE bool ScaleLast(const FlashHead& head) {
  return head.added == nullptr && head.allowed == nullptr && head.scale > 0.0f;
}

// What is done to a vector of scores, of which the first `live` are those of keys j, j + 1, ...
struct UnmaskedScores {
  HWY_INLINE FloatVec operator()(FloatVec score, int64_t, int64_t) const { return score; }
};
struct AddedPerKey {
  FloatVec scale;
  const float* added;
  HWY_INLINE FloatVec operator()(FloatVec score, int64_t j, int64_t live) const {
    return hn::MulAdd(score, scale, live == kLanes ? Load(added + j) : LoadN(added + j, live));
  }
};
struct AddedToAll {
  FloatVec scale;
  FloatVec added;
  HWY_INLINE FloatVec operator()(FloatVec score, int64_t, int64_t) const { return hn::MulAdd(score, scale, added); }
};
struct AllowedPerKey {
  FloatVec scale;
  FloatVec masked;
  const bool* allowed;
  HWY_INLINE FloatVec operator()(FloatVec score, int64_t j, int64_t live) const {
    uint8_t bytes[kLanes] = {};
    std::memcpy(bytes, allowed + j, static_cast<size_t>(live));
    const auto flags = hn::PromoteTo(IntTag(), hn::LoadU(hn::Rebind<uint8_t, FloatTag>(), bytes));
    const FloatMask keep = hn::RebindMask(FloatTag(), hn::Ne(flags, hn::Zero(IntTag())));
    return hn::IfThenElse(keep, hn::Mul(score, scale), masked);
  }
};

// Masks scores, of which the first `live` are those of keys, makes the others -inf up to `columns`, whole vectors, and
// puts their maximum, which may lose a NaN, into `best`.
template <class Mask>
HWY_INLINE void MaskPart(const Mask& mask, int64_t live, int64_t columns, float* scores, FloatVec* best) {
  const FloatVec none = Set(-std::numeric_limits<float>::infinity());
  FloatVec largest = *best;
  int64_t j = 0;
  for (; j + kLanes <= live; j += kLanes) {
    const FloatVec v = mask(Load(scores + j), j, kLanes);
    Store(v, scores + j);
    largest = Larger(largest, v);
  }
  if (j < live) {
    const FloatVec v = mask(Load(scores + j), j, live - j);
    const FloatVec kept = hn::IfThenElse(hn::FirstN(FloatTag(), static_cast<size_t>(live - j)), v, none);
    Store(kept, scores + j);
    largest = Larger(largest, kept);
    j += kLanes;
  }
  for (; j < columns; j += kLanes) Store(none, scores + j);
  *best = largest;
}

// MaskPart by what the head has, for query `row` and the keys from k0 on.
inline HWY_NOINLINE void MaskScores(const FlashHead& head, int64_t row, int64_t k0, int64_t live, int64_t columns,
                                    float* scores, FloatVec* best) {
  if (ScaleLast(head)) return MaskPart(UnmaskedScores(), live, columns, scores, best);
  const int64_t place = row * head.mask_query_stride + k0 * head.mask_key_stride;
  const FloatVec scale = Set(head.scale);
  const bool one = head.mask_key_stride == 0;
  if (head.allowed != nullptr) {
    const FloatVec masked = Set(head.masked_score);
    const bool* const allowed = head.allowed + place;
    if (!one) return MaskPart(AllowedPerKey{scale, masked, allowed}, live, columns, scores, best);
    if (!*allowed) return MaskPart(AddedToAll{Zero(), masked}, live, columns, scores, best);
  } else if (head.added != nullptr && !one) {
    return MaskPart(AddedPerKey{scale, head.added + place}, live, columns, scores, best);
  }
  const FloatVec added = head.added == nullptr ? Zero() : Set(head.added[place]);
  MaskPart(AddedToAll{scale, added}, live, columns, scores, best);
}

// How the scores of a query become weights.
struct Exponents {
  FloatVec base;
  FloatVec factor;
  HWY_INLINE FloatVec Weight(FloatVec score) const {
    return NegativeExp2(Larger(Set(-127.0f), hn::Mul(hn::Sub(score, base), factor)));
  }
};

// n masked scores become weights; returns their sum in parts. Goes on to a whole vector.
HWY_INLINE FloatVec WeighRow(const Exponents& exponents, int64_t n, float* scores) {
  FloatVec sum = Zero();
  int64_t j = 0;
  for (; j + kLanes < n; j += 2 * kLanes) {
    const FloatVec w0 = exponents.Weight(Load(scores + j));
    const FloatVec w1 = exponents.Weight(Load(scores + j + kLanes));
    Store(w0, scores + j);
    Store(w1, scores + j + kLanes);
    sum = hn::Add(sum, hn::Add(w0, w1));
  }
  if (j < n) {
    const FloatVec w = exponents.Weight(Load(scores + j));
    Store(w, scores + j);
    sum = hn::Add(sum, w);
  }
  return sum;
}

// The masked scores of MR queries and n keys, rows `stride` apart, become e^(score - maximum of all so far); -inf
// becomes 0. `best` has each query's maximum in parts. The results so far are to be multiplied by `shrink`. One step
// after the other for all queries: a row would wait for its maximum, and then for its sum.
template <int MR>
HWY_INLINE void WeighRows(const FlashHead& head, const FloatVec (&best)[MR], int64_t n, float* scores, int64_t stride,
                          Running* running, float (&shrink)[MR]) {
  const FloatVec factor = Set(1.44269504f * (ScaleLast(head) ? head.scale : 1.0f));
  FloatVec bases[MR];
  for (int r = 0; r < MR; ++r) {
    const float before = running[r].maximum;
    const float largest = NumberMaxOp().Lanes(best[r]);
    const float after = largest > before ? largest : before;
    // With all scores -inf so far, every exponential is to be 0.
    bases[r] = Set(after == -std::numeric_limits<float>::infinity() ? 0.0f : after);
    running[r].maximum = after;
    shrink[r] = 1.0f;
    if (after != before) shrink[r] = hn::GetLane(Exponents{bases[r], factor}.Weight(Set(before)));
  }
  FloatVec sums[MR];
  for (int r = 0; r < MR; ++r) sums[r] = WeighRow({bases[r], factor}, n, scores + r * stride);
  for (int r = 0; r < MR; ++r) running[r].sum = running[r].sum * shrink[r] + SumOp().Lanes(sums[r]);
}

}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
