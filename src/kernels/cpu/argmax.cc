// argmax and argmin.
#include <algorithm>

#include "base/check.h"
#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/movement/block_copy.h"
#include "kernels/cpu/tensor_loops.h"
#include "kernels/cpu/vector/columns.h"

namespace wherry::cpu {
namespace {

// The best elements of some columns, and their rows.
template <typename T>
struct Leaders {
  T best[kMaxColumns];
  int64_t row[kMaxColumns];
};

template <typename T>
void FindLeaders(BestRule rule, const T* x, int64_t rows, int64_t stride, int64_t cols, Leaders<T>* leaders) {
  std::copy_n(x, cols, leaders->best);
  std::fill_n(leaders->row, cols, int64_t{0});
  RowIndex<T> at[kMaxColumns];
  for (int64_t begin = 1; begin < rows; begin += kMaxBestRows) {
    std::fill_n(at, cols, RowIndex<T>{-1});
    BestInColumns(rule, x + begin * stride, std::min(kMaxBestRows, rows - begin), stride, cols, leaders->best, at);
    for (int64_t c = 0; c < cols; ++c) {
      if (at[c] >= 0) leaders->row[c] = begin + int64_t{at[c]};
    }
  }
}

// Of the first `count` elements of x, which lie side by side: cut into short rows below one another, whose columns have
// their leaders.
template <typename T>
int64_t BestOfRun(BestRule rule, const T* x, int64_t count) {
  constexpr int64_t kCols = 32;
  const int64_t rows = count / kCols;
  Leaders<T> leaders;
  if (rows > 0) FindLeaders(rule, x, rows, kCols, kCols, &leaders);
  int64_t best = rows > 0 ? leaders.row[0] * kCols : 0;
  const auto challenge = [&](int64_t at) {
    const T a = x[at];
    const T b = x[best];
    const bool is_first = at < best;
    if (a != a || b != b) {
      if (a != a && (b == b || is_first)) best = at;
    } else if (a == b ? is_first != rule.last : (a > b) == rule.largest) {
      best = at;
    }
  };
  for (int64_t c = 1; rows > 0 && c < kCols; ++c) challenge(leaders.row[c] * kCols + c);
  for (int64_t i = std::max<int64_t>(1, rows * kCols); i < count; ++i) challenge(i);
  return best;
}

// Rows are short if the 32 columns above would be all but empty. They become columns, side by side in a buffer.
constexpr int64_t kShortRow = 64;
constexpr int64_t kShortRows = 64;  // at a time

template <typename T>
void FindLeadersOfRows(BestRule rule, const T* x, int64_t rows, int64_t extent, Leaders<T>* leaders) {
  T columns[kShortRow * kShortRows];
  BlockCopyOf(sizeof(T))({extent, rows, 1, extent, rows}, x, columns);
  FindLeaders(rule, columns, extent, rows, rows, leaders);
}

void Write(DenseTensor* out, int64_t at, int64_t value) {
  if (out->dtype() == DataType::kInt32) {
    out->mutable_data<int32_t>()[at] = static_cast<int32_t>(value);
  } else {
    out->mutable_data<int64_t>()[at] = value;
  }
}

template <typename T>
void ArgBest(const CpuContext& context, const DenseTensor& x, int64_t axis, bool flatten, BestRule rule,
             DenseTensor* out) {
  if (out->numel() == 0) return;
  const AxisRun run = flatten ? AxisRun{1, x.numel(), 1} : RunAlong(x.shape(), axis);
  WHERRY_ENFORCE(run.extent > 0, kInvalidArgument, "x ", x.shape().DebugString(),
                 " is empty: there is no extreme element");
  const T* const from = x.data<T>();
  // About 5 us a chunk at least.
  constexpr int64_t kMinElements = 32768;
  if (run.inner == 1 && run.extent <= kShortRow && run.outer > 1) {
    const int64_t blocks = (run.outer + kShortRows - 1) / kShortRows;
    const int64_t grain = std::max<int64_t>(1, kMinElements / (run.extent * kShortRows));
    ParallelFor(context.pool(), blocks, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t o = i * kShortRows;
        const int64_t rows = std::min(kShortRows, run.outer - o);
        Leaders<T> leaders;
        FindLeadersOfRows(rule, from + o * run.extent, rows, run.extent, &leaders);
        for (int64_t r = 0; r < rows; ++r) Write(out, o + r, leaders.row[r]);
      }
    });
    return;
  }
  const int64_t blocks = (run.inner + kMaxColumns - 1) / kMaxColumns;
  const int64_t grain = std::max<int64_t>(1, kMinElements / (run.extent * std::min(run.inner, kMaxColumns)));
  ParallelFor(context.pool(), run.outer * blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t o = i / blocks;
      const int64_t column = i % blocks * kMaxColumns;
      const T* const first = from + o * run.extent * run.inner + column;
      if (run.inner == 1) {
        Write(out, o, BestOfRun(rule, first, run.extent));
        continue;
      }
      const int64_t cols = std::min(kMaxColumns, run.inner - column);
      Leaders<T> leaders;
      FindLeaders(rule, first, run.extent, run.inner, cols, &leaders);
      for (int64_t c = 0; c < cols; ++c) Write(out, o * run.inner + column + c, leaders.row[c]);
    }
  });
}

template <typename T>
void ArgMax(const CpuContext& context, const DenseTensor& x, int64_t axis, bool flatten, bool select_last,
            DenseTensor* out) {
  ArgBest<T>(context, x, axis, flatten, {.largest = true, .last = select_last}, out);
}

template <typename T>
void ArgMin(const CpuContext& context, const DenseTensor& x, int64_t axis, bool flatten, bool select_last,
            DenseTensor* out) {
  ArgBest<T>(context, x, axis, flatten, {.largest = false, .last = select_last}, out);
}

}  // namespace

REGISTER_KERNEL(argmax, cpu, kNative, kNCHW, ArgMax, float, int32_t, int64_t);
REGISTER_KERNEL(argmin, cpu, kNative, kNCHW, ArgMin, float, int32_t, int64_t);

}  // namespace wherry::cpu
