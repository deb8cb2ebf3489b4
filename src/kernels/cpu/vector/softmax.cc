#include "kernels/cpu/vector/softmax.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/movement/block_copy.h"
#include "kernels/cpu/simd/cache_line.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/vector/softmax.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/simd/math-inl.h"
#include "kernels/cpu/vector/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

// y = e^(x - max) if y is wanted; returns the sum.
template <bool kStore>
HWY_INLINE float ExpRow(const float* x, float* y, int64_t n, float max) {
  const FloatVec shift = Set(max);
  FloatVec sum0 = Zero();
  FloatVec sum1 = Zero();
  int64_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    const FloatVec e0 = Exp(hn::Sub(Load(x + i), shift));
    const FloatVec e1 = Exp(hn::Sub(Load(x + i + kLanes), shift));
    if (kStore) {
      Store(e0, y + i);
      Store(e1, y + i + kLanes);
    }
    sum0 = hn::Add(sum0, e0);
    sum1 = hn::Add(sum1, e1);
  }
  for (; i < n; i += kLanes) {
    const int64_t live = std::min(kLanes, n - i);
    const FloatVec e = KeepN(Exp(hn::Sub(LoadN(x + i, live), shift)), live);
    if (kStore) StoreN(e, y + i, live);
    sum0 = hn::Add(sum0, e);
  }
  return SumOp().Lanes(hn::Add(sum0, sum1));
}

struct Scale {
  FloatVec factor;
  HWY_INLINE FloatVec operator()(FloatVec v) const { return hn::Mul(v, factor); }
};

struct Shift {
  FloatVec a, b;
  HWY_INLINE FloatVec operator()(FloatVec v) const { return hn::Sub(hn::Sub(v, a), b); }
};

template <class Map>
HWY_INLINE void MapRow(const float* x, float* y, int64_t n, const Map& map) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) Store(map(Load(x + i)), y + i);
  if (i < n) StoreN(map(LoadN(x + i, n - i)), y + i, n - i);
}

// Rows [begin, end) of contiguous softmaxes of n floats. The maximum may lose a NaN: the exponentials bring it back.
void SoftmaxRows(const float* x, float* y, int64_t n, bool log, int64_t begin, int64_t end) {
  for (int64_t r = begin; r < end; ++r) {
    const float* const in = x + r * n;
    float* const out = y + r * n;
    const float max = ReduceMapped<NumberMaxOp>(in, n, Identity());
    if (log) {
      const float sum = ExpRow<false>(in, nullptr, n, max);
      MapRow(in, out, n, Shift{Set(max), Set(std::log(sum))});
    } else {
      const float sum = ExpRow<true>(in, out, n, max);
      MapRow(out, out, n, Scale{Set(1.0f / sum)});
    }
  }
}

// Vector v of V whole ones, or of one that has `live` lanes.
template <int V>
HWY_INLINE FloatVec LoadVector(const float* p, int v, int64_t live) {
  return V > 1 ? Load(p + v * kLanes) : LoadN(p, live);
}
template <int V>
HWY_INLINE void StoreVector(FloatVec value, float* p, int v, int64_t live) {
  V > 1 ? Store(value, p + v * kLanes) : StoreN(value, p, live);
}

// Softmaxes side by side, V whole vectors or one with `live` lanes: lane i runs along x[i], x[i + inner], ...
template <int V>
HWY_INLINE void SoftmaxColumn(const float* x, float* y, int64_t axis, int64_t inner, int64_t live, bool log) {
  FloatVec max[V];
  FloatVec sum[V];
  WHERRY_UNROLL
  for (int v = 0; v < V; ++v) {
    max[v] = LoadVector<V>(x, v, live);
    sum[v] = Zero();
  }
  for (int64_t a = 1; a < axis; ++a) {
    // The next columns: the processor does not follow as many streams as the axis is long.
    __builtin_prefetch(x + a * inner + kLineFloats);
    WHERRY_UNROLL
    for (int v = 0; v < V; ++v) max[v] = Larger(max[v], LoadVector<V>(x + a * inner, v, live));
  }
  // Summed in blocks: one chain of 3000 additions was wrong by 3e-6.
  constexpr int64_t kBlock = 64;
  for (int64_t a0 = 0; a0 < axis; a0 += kBlock) {
    FloatVec partial[V];
    WHERRY_UNROLL
    for (int v = 0; v < V; ++v) partial[v] = Zero();
    for (int64_t a = a0; a < std::min(axis, a0 + kBlock); ++a) {
      WHERRY_UNROLL
      for (int v = 0; v < V; ++v) {
        const FloatVec e = Exp(hn::Sub(LoadVector<V>(x + a * inner, v, live), max[v]));
        if (!log) StoreVector<V>(e, y + a * inner, v, live);
        partial[v] = hn::Add(partial[v], e);
      }
    }
    WHERRY_UNROLL
    for (int v = 0; v < V; ++v) sum[v] = hn::Add(sum[v], partial[v]);
  }
  WHERRY_UNROLL
  for (int v = 0; v < V; ++v) sum[v] = log ? Log(sum[v]) : hn::Div(Set(1.0f), sum[v]);
  for (int64_t a = 0; a < axis; ++a) {
    WHERRY_UNROLL
    for (int v = 0; v < V; ++v) {
      const FloatVec value = log ? Shift{max[v], sum[v]}(LoadVector<V>(x + a * inner, v, live))
                                 : Scale{sum[v]}(LoadVector<V>(y + a * inner, v, live));
      StoreVector<V>(value, y + a * inner, v, live);
    }
  }
}

// Columns [begin, end) of outer * inner columns, a cache line of them at a time where there is one.
void SoftmaxColumns(const float* x, float* y, int64_t axis, int64_t inner, bool log, int64_t begin, int64_t end) {
  for (int64_t c = begin; c < end;) {
    const int64_t within = c % inner;
    const int64_t left = std::min(inner - within, end - c);
    const int64_t offset = c / inner * axis * inner + within;
    if (left >= kLineFloats) {
      SoftmaxColumn<kLineFloats / kLanes>(x + offset, y + offset, axis, inner, kLanes, log);
      c += kLineFloats;
    } else {
      const int64_t live = std::min(kLanes, left);
      SoftmaxColumn<1>(x + offset, y + offset, axis, inner, live, log);
      c += live;
    }
  }
}

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {
namespace {

// Rows of a few vectors, some of them in part: as columns, side by side in a buffer.
constexpr int64_t kShortRow = 32;
constexpr int64_t kShortRows = 64;  // at a time

void Run(const float* x, float* y, int64_t outer, int64_t axis, int64_t inner, bool log, ThreadPool* pool) {
  if (axis <= 0 || outer * inner <= 0) return;
  // About 5 us of exponentials a chunk at least.
  constexpr int64_t kMinElements = 16384;
  const int64_t grain = std::max<int64_t>(1, kMinElements / axis);
  const auto columns = WHERRY_ISA_CALL(SoftmaxColumns);
  if (inner == 1 && axis <= kShortRow && outer > 1) {
    const BlockCopy copy = BlockCopyOf(sizeof(float));
    ParallelFor(pool, outer, grain, [&](int64_t begin, int64_t end) {
      alignas(64) float buffer[kShortRow * kShortRows];
      for (int64_t o = begin; o < end; o += kShortRows) {
        const int64_t rows = std::min(kShortRows, end - o);
        copy({axis, rows, 1, axis, rows}, x + o * axis, buffer);
        columns(buffer, buffer, axis, rows, log, 0, rows);
        copy({rows, axis, 1, rows, axis}, buffer, y + o * axis);
      }
    });
    return;
  }
  if (inner == 1) {
    const auto rows = WHERRY_ISA_CALL(SoftmaxRows);
    ParallelFor(pool, outer, grain, [&](int64_t begin, int64_t end) { rows(x, y, axis, log, begin, end); });
    return;
  }
  // Whole cache lines of columns, so that two threads write to one line rarely.
  ParallelFor(pool, outer * inner, (grain + 15) / 16 * 16,
              [&](int64_t begin, int64_t end) { columns(x, y, axis, inner, log, begin, end); });
}

}  // namespace

void Softmax(const float* x, float* y, int64_t outer, int64_t axis, int64_t inner, ThreadPool* pool) {
  Run(x, y, outer, axis, inner, false, pool);
}

void LogSoftmax(const float* x, float* y, int64_t outer, int64_t axis, int64_t inner, ThreadPool* pool) {
  Run(x, y, outer, axis, inner, true, pool);
}

}  // namespace wherry::cpu
#endif  // HWY_ONCE
