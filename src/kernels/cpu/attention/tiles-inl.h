// Panels of keys and values, and the two products of attention by tiles: MR queries by NV vectors. Per-instruction-set
// header: the guard toggles.
#if defined(WHERRY_KERNELS_CPU_ATTENTION_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WHERRY_KERNELS_CPU_ATTENTION_TILES_INL_H_
#undef WHERRY_KERNELS_CPU_ATTENTION_TILES_INL_H_
#else
#define WHERRY_KERNELS_CPU_ATTENTION_TILES_INL_H_
#endif

#include <algorithm>
#include <limits>

#include "kernels/cpu/attention/flash_block.h"
#include "kernels/cpu/attention/weights-inl.h"
#include "kernels/cpu/gemm/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {

// Columns that lie side by side in a panel.
inline constexpr int64_t kPanelColumns = TileVectors(RowTiles::kMaxHeight) * kLanes;
inline constexpr int64_t WholeVectors(int64_t n) { return (n + kLanes - 1) / kLanes * kLanes; }
// Those of the panel that begins at column `begin` of n.
inline int64_t ColumnsOf(int64_t begin, int64_t n) { return std::min(kPanelColumns, WholeVectors(n - begin)); }

// Four floats from each of the rows 0, 4, 8, ... as far as there are N lanes.
template <size_t N>
HWY_INLINE hn::Vec<hn::CappedTag<float, N>> LoadFours(const float* const* rows, int64_t d) {
  const hn::CappedTag<float, N> tag;
  if constexpr (N == 4) {
    return hn::LoadU(tag, rows[0] + d);
  } else {
    return hn::Combine(tag, LoadFours<N / 2>(rows + N / 2, d), LoadFours<N / 2>(rows, d));
  }
}

// panel[d * columns + i] = rows[i][d] for d < size and i < kLanes.
HWY_INLINE void TransposeRows(const float* const (&rows)[kLanes], int64_t size, float* panel, int64_t columns) {
  const hn::RepartitionToWide<hn::RebindToUnsigned<FloatTag>> pairs;
  const auto store = [&](auto v, int64_t d) { Store(hn::BitCast(FloatTag(), v), panel + d * columns); };
  int64_t d = 0;
  for (; d + 4 <= size; d += 4) {
    const FloatVec a = LoadFours<kLanes>(rows, d);
    const FloatVec b = LoadFours<kLanes>(rows + 1, d);
    const FloatVec c = LoadFours<kLanes>(rows + 2, d);
    const FloatVec e = LoadFours<kLanes>(rows + 3, d);
    const auto ab = hn::BitCast(pairs, hn::InterleaveLower(FloatTag(), a, b));
    const auto ce = hn::BitCast(pairs, hn::InterleaveLower(FloatTag(), c, e));
    const auto ab_upper = hn::BitCast(pairs, hn::InterleaveUpper(FloatTag(), a, b));
    const auto ce_upper = hn::BitCast(pairs, hn::InterleaveUpper(FloatTag(), c, e));
    store(hn::InterleaveLower(pairs, ab, ce), d);
    store(hn::InterleaveUpper(pairs, ab, ce), d + 1);
    store(hn::InterleaveLower(pairs, ab_upper, ce_upper), d + 2);
    store(hn::InterleaveUpper(pairs, ab_upper, ce_upper), d + 3);
  }
  for (; d < size; ++d) {
    for (int64_t i = 0; i < kLanes; ++i) panel[d * columns + i] = rows[i][d];
  }
}

// Panels [size][columns] of the n keys from k0 on. Behind the last key it stands again.
inline void PackKeys(const FlashHead& head, int64_t k0, int64_t n, float* panel) {
  for (int64_t begin = 0; begin < n; begin += kPanelColumns) {
    const int64_t columns = ColumnsOf(begin, n);
    for (int64_t j = 0; j < columns; j += kLanes) {
      const float* rows[kLanes];
      for (int64_t i = 0; i < kLanes; ++i) {
        rows[i] = head.key + (k0 + std::min(begin + j + i, n - 1)) * head.key_stride;
      }
      TransposeRows(rows, head.size, panel + j, columns);
    }
    panel += head.size * columns;
  }
}

// Panels [n][columns] of the n values from k0 on. Zeros stand behind the last column.
inline void PackValues(const FlashHead& head, int64_t k0, int64_t n, float* panel) {
  for (int64_t begin = 0; begin < head.value_size; begin += kPanelColumns) {
    const int64_t live = std::min(kPanelColumns, head.value_size - begin);
    const float* from = head.value + k0 * head.value_stride + begin;
    if (live == kPanelColumns) {
      for (int64_t k = 0; k < n; ++k, from += head.value_stride, panel += kPanelColumns) {
        WHERRY_UNROLL
        for (int64_t j = 0; j < kPanelColumns; j += kLanes) Store(Load(from + j), panel + j);
      }
      continue;
    }
    for (int64_t k = 0; k < n; ++k, from += head.value_stride) {
      for (int64_t j = 0; j < live; j += kLanes, panel += kLanes) {
        Store(live - j < kLanes ? LoadN(from + j, live - j) : Load(from + j), panel);
      }
    }
  }
}

// acc = MR rows of a times a panel of NV vectors. As in the matrix products' GemmTile, but panels have no gaps, and
// what is read is in the caches.
template <int MR, int NV>
HWY_INLINE void Multiply(const float* a, int64_t a_stride, const float* b, int64_t depth, FloatVec (&acc)[MR][NV]) {
  WHERRY_UNROLL
  for (int r = 0; r < MR; ++r) {
    WHERRY_UNROLL
    for (int j = 0; j < NV; ++j) acc[r][j] = Zero();
  }
  for (int64_t k = 0; k < depth; ++k, ++a, b += NV * kLanes) {
    FloatVec bv[NV];
    WHERRY_UNROLL
    for (int j = 0; j < NV; ++j) bv[j] = Load(b + j * kLanes);
    WHERRY_UNROLL
    for (int r = 0; r < MR; ++r) {
      const FloatVec av = Set(a[r * a_stride]);
      WHERRY_UNROLL
      for (int j = 0; j < NV; ++j) acc[r][j] = hn::MulAdd(av, bv[j], acc[r][j]);
    }
  }
}

// What a tile of scores goes through as it is stored.
enum class ScoreForm : uint8_t {
  kPlain,  // its maximum is noted
  kAdded,  // scaled, a mask added for each score, then the same
  kLater,  // MaskScores comes after
};

// Scores of queries [row0, row0 + MR) and a panel, of which the first `cols` columns are keys (of kLater, all); `added`
// is where the mask of the first is. Behind the keys is -inf.
template <int MR, int NV>
HWY_NOINLINE void ScoreTile(const FlashHead& head, ScoreForm form, int64_t row0, const float* keys, int64_t cols,
                            const float* added, float* scores, FloatVec* best) {
  FloatVec acc[MR][NV];
  Multiply<MR, NV>(head.query + row0 * head.query_stride, head.query_stride, keys, head.size, acc);
  const int64_t live = cols - (NV - 1) * kLanes;  // of the last vector
  if (form == ScoreForm::kAdded) {
    const FloatVec scale = Set(head.scale);
    WHERRY_UNROLL
    for (int r = 0; r < MR; ++r) {
      const float* const row = added + r * head.mask_query_stride;
      WHERRY_UNROLL
      for (int j = 0; j + 1 < NV; ++j) acc[r][j] = hn::MulAdd(acc[r][j], scale, Load(row + j * kLanes));
      const float* const end = row + (NV - 1) * kLanes;
      acc[r][NV - 1] = hn::MulAdd(acc[r][NV - 1], scale, live == kLanes ? Load(end) : LoadN(end, live));
    }
  }
  if (live < kLanes) {
    const FloatMask keys_of = hn::FirstN(FloatTag(), static_cast<size_t>(live));
    WHERRY_UNROLL
    for (int r = 0; r < MR; ++r) {
      acc[r][NV - 1] = hn::IfThenElse(keys_of, acc[r][NV - 1], Set(-std::numeric_limits<float>::infinity()));
    }
  }
  WHERRY_UNROLL
  for (int r = 0; r < MR; ++r) {
    FloatVec largest = acc[r][0];
    WHERRY_UNROLL
    for (int j = 0; j < NV; ++j) {
      if (j > 0) largest = Larger(largest, acc[r][j]);
      Store(acc[r][j], scores + r * kFlashKeyBlock + j * kLanes);
    }
    if (form != ScoreForm::kLater) best[r] = Larger(best[r], largest);
  }
}

// What becomes of a result: it is multiplied by shrink (none: by 0 and not read), the values are added and all is
// multiplied by factor.
struct Onto {
  const float* shrink;  // null: the first values
  const float* factor;
};

template <int MR, int NV>
HWY_NOINLINE void ValueTile(const float* weights, int64_t n, const float* values, const Onto& onto, float* out,
                            int64_t out_stride, int64_t cols) {
  FloatVec acc[MR][NV];
  Multiply<MR, NV>(weights, kFlashKeyBlock, values, n, acc);
  WHERRY_UNROLL
  for (int r = 0; r < MR; ++r) {
    const FloatVec factor = Set(onto.factor[r]);
    WHERRY_UNROLL
    for (int j = 0; j < NV; ++j) {
      float* const to = out + r * out_stride + j * kLanes;
      const int64_t live = j + 1 < NV ? kLanes : cols - j * kLanes;
      FloatVec v = acc[r][j];
      if (onto.shrink != nullptr) v = hn::MulAdd(live == kLanes ? Load(to) : LoadN(to, live), Set(onto.shrink[r]), v);
      v = hn::Mul(v, factor);
      if (live == kLanes) {
        Store(v, to);
      } else {
        StoreN(v, to, live);
      }
    }
  }
}

// Calls body.Run<NV>() for the vectors of a panel.
template <class Body>
HWY_INLINE void WithVectors(int64_t columns, const Body& body) {
  constexpr int kMax = TileVectors(RowTiles::kMaxHeight);
  const int64_t vectors = columns / kLanes;
  if (vectors == 1) return body.template Run<1>();
  if constexpr (kMax > 2) {
    if (vectors == 2) return body.template Run<2>();
    if (vectors == 3) return body.template Run<3>();
  }
  body.template Run<kMax>();
}

template <int MR>
struct ScoresBody {
  const FlashHead& head;
  ScoreForm form;
  int64_t row0;
  const float* keys;
  int64_t cols;
  const float* added;
  float* scores;
  FloatVec* best;
  template <int NV>
  HWY_INLINE void Run() const {
    ScoreTile<MR, NV>(head, form, row0, keys, cols, added, scores, best);
  }
};

template <int MR>
struct ValuesBody {
  const float* weights;
  int64_t n;
  const float* values;
  const Onto& onto;
  float* out;
  int64_t out_stride;
  int64_t cols;
  template <int NV>
  HWY_INLINE void Run() const {
    ValueTile<MR, NV>(weights, n, values, onto, out, out_stride, cols);
  }
};

}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
