#include "kernels/cpu/vector/reduce.h"

#include <algorithm>

#include "kernels/cpu/movement/block_copy.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/vector/reduce_bodies.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/vector/reduce.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/vector/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

// One run of floats. Blocks are added up in double: a float chain of 10^6 terms loses three digits. In a block each
// lane of the four accumulators adds 64 terms.
template <class Op>
double ReduceRun(const float* x, int64_t n) {
  constexpr int64_t kBlock = 256 * kLanes;
  const Op op;
  double total = static_cast<double>(Op::kIdentity);
  for (int64_t i = 0; i < n; i += kBlock) {
    const float block = ReduceMapped<Op>(x + i, std::min(kBlock, n - i), Identity());
    total = op.Scalar(total, static_cast<double>(block));
  }
  return total;
}

// V vectors of columns side by side; the last holds `live` lanes.
template <class Op, int V>
HWY_INLINE void ReduceColumns(const float* x, float* y, int64_t axis, int64_t inner, int64_t live, float scale) {
  constexpr int64_t kBlock = 64;
  const Op op;
  const bool whole = live == kLanes;
  FloatVec total[V];
  WHERRY_UNROLL
  for (int v = 0; v < V; ++v) total[v] = Set(Op::kIdentity);
  for (int64_t a0 = 0; a0 < axis; a0 += kBlock) {
    FloatVec partial[V];
    WHERRY_UNROLL
    for (int v = 0; v < V; ++v) partial[v] = Set(Op::kIdentity);
    const int64_t a1 = std::min(axis, a0 + kBlock);
    for (int64_t a = a0; a < a1; ++a) {
      const float* const row = x + a * inner;
      WHERRY_UNROLL
      for (int v = 0; v < V; ++v) {
        const bool partial_vector = v + 1 == V && !whole;
        partial[v] = op(partial[v], partial_vector ? LoadN(row + v * kLanes, live) : Load(row + v * kLanes));
      }
    }
    WHERRY_UNROLL
    for (int v = 0; v < V; ++v) total[v] = op(total[v], partial[v]);
  }
  WHERRY_UNROLL
  for (int v = 0; v < V; ++v) {
    const FloatVec result = hn::Mul(total[v], Set(scale));
    if (v + 1 == V && !whole) {
      StoreN(result, y + v * kLanes, live);
    } else {
      Store(result, y + v * kLanes);
    }
  }
}

// Column blocks [begin, end) of the outer * blocks there are.
template <class Op>
void ReduceColumnBlocks(const float* x, float* y, int64_t axis, int64_t inner, float scale, int64_t begin,
                        int64_t end) {
  const int64_t blocks = (inner + kReduceColumns - 1) / kReduceColumns;
  for (int64_t b = begin; b < end; ++b) {
    const int64_t o = b / blocks;
    const int64_t col_begin = b % blocks * kReduceColumns;
    const int64_t col_end = std::min(inner, col_begin + kReduceColumns);
    const float* const in = x + o * axis * inner;
    float* const out = y + o * inner;
    int64_t col = col_begin;
    for (; col + 4 * kLanes <= col_end; col += 4 * kLanes) {
      ReduceColumns<Op, 4>(in + col, out + col, axis, inner, kLanes, scale);
    }
    for (; col < col_end; col += kLanes) {
      ReduceColumns<Op, 1>(in + col, out + col, axis, inner, std::min(kLanes, col_end - col), scale);
    }
  }
}

template <class Op>
constexpr ReduceBodies Bodies() {
  return {&ReduceRun<Op>, &ReduceColumnBlocks<Op>};
}

// In the order of ReduceKind.
constexpr ReduceBodies kReduceBodies[] = {Bodies<SumOp>(), Bodies<SumOp>(), Bodies<MaxOp>(), Bodies<MinOp>(),
                                          Bodies<ProductOp>()};

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {
namespace {

double Combine(ReduceKind kind, double a, double b) {
  switch (kind) {
    case ReduceKind::kSum:
    case ReduceKind::kMean: return a + b;
    case ReduceKind::kMax: return a != a ? a : b != b ? b : std::max(a, b);
    case ReduceKind::kMin: return a != a ? a : b != b ? b : std::min(a, b);
    case ReduceKind::kProd: return a * b;
  }
  return 0.0;
}

// One long run, cut into pieces whose number does not depend on the threads.
double ReduceLongRun(ReduceKind kind, const ReduceBodies& bodies, const float* x, int64_t n, ThreadPool* pool) {
  constexpr int64_t kMaxPieces = 64;
  constexpr int64_t kMinPiece = 65536;
  double partial[kMaxPieces];
  const int64_t piece = std::max(kMinPiece, (n + kMaxPieces - 1) / kMaxPieces);
  const int64_t pieces = std::max<int64_t>(1, (n + piece - 1) / piece);
  ParallelFor(pool, pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) partial[i] = bodies.run(x + i * piece, std::min(piece, n - i * piece));
  });
  double total = partial[0];
  for (int64_t i = 1; i < pieces; ++i) total = Combine(kind, total, partial[i]);
  return total;
}

// Rows whose sums would be mostly of lanes and of vectors in part: as columns, side by side in a buffer.
constexpr int64_t kShortRow = 32;

void ReduceShortRows(const ReduceBodies& bodies, const float* x, float* y, int64_t axis, float scale, int64_t begin,
                     int64_t end) {
  alignas(64) float columns[kShortRow * kReduceColumns];
  const BlockCopy copy = BlockCopyOf(sizeof(float));
  for (int64_t o = begin; o < end; o += kReduceColumns) {
    const int64_t rows = std::min(kReduceColumns, end - o);
    copy({axis, rows, 1, axis, rows}, x + o * axis, columns);
    bodies.column_blocks(columns, y + o, axis, rows, scale, 0, 1);
  }
}

}  // namespace

void Reduce(ReduceKind kind, const float* x, float* y, int64_t outer, int64_t axis, int64_t inner, ThreadPool* pool) {
  if (outer <= 0 || inner <= 0) return;
  const ReduceBodies& bodies = (*WHERRY_ISA_CALL(kReduceBodies))[static_cast<int>(kind)];
  const double count = kind == ReduceKind::kMean ? static_cast<double>(axis) : 1.0;
  // About 5 us a chunk at least.
  constexpr int64_t kMinFloats = 65536;
  const int64_t grain = std::max<int64_t>(1, kMinFloats / std::max<int64_t>(1, axis));
  if (inner > 1) {
    const float scale = static_cast<float>(1.0 / count);
    // The mean of nothing is 0 * inf = NaN.
    const int64_t blocks = outer * ((inner + kReduceColumns - 1) / kReduceColumns);
    ParallelFor(pool, blocks, std::max<int64_t>(1, grain / kReduceColumns),
                [&](int64_t begin, int64_t end) { bodies.column_blocks(x, y, axis, inner, scale, begin, end); });
  } else if (outer == 1) {
    y[0] = static_cast<float>(ReduceLongRun(kind, bodies, x, axis, pool) / count);
  } else if (axis > 0 && axis <= kShortRow) {
    const float scale = static_cast<float>(1.0 / count);
    ParallelFor(pool, outer, grain,
                [&](int64_t begin, int64_t end) { ReduceShortRows(bodies, x, y, axis, scale, begin, end); });
  } else {
    ParallelFor(pool, outer, grain, [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) y[o] = static_cast<float>(bodies.run(x + o * axis, axis) / count);
    });
  }
}

}  // namespace wherry::cpu
#endif  // HWY_ONCE
