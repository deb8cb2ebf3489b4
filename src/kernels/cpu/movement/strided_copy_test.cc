#include "kernels/cpu/movement/strided_copy.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace wherry::cpu {
namespace {

using Dims = std::vector<int64_t>;

int64_t Numel(const Dims& dims) { return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>()); }

Dims RowMajor(const Dims& dims) {
  Dims strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0; stride *= dims[i]) strides[i] = stride;
  return strides;
}

// Copies a view of the numbers 0, 1, ... into a tensor with the strides `to`, and checks every element and every gap.
template <typename T>
void Check(const Dims& dims, const Dims& from, int64_t base, const Dims& to, ThreadPool* pool) {
  constexpr T kUntouched = static_cast<T>(~T{0});
  int64_t from_size = base + 1;
  int64_t to_size = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (from[i] > 0) from_size += from[i] * (dims[i] - 1);
    to_size += to[i] * (dims[i] - 1);
  }
  std::vector<T> source(static_cast<size_t>(from_size));
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<T>(i * 7 % 251);
  std::vector<T> target(static_cast<size_t>(std::max<int64_t>(to_size, 1)), kUntouched);
  std::vector<T> want = target;
  Dims at(dims.size(), 0);
  for (int64_t i = 0; i < Numel(dims); ++i) {
    int64_t rest = i;
    int64_t f = base;
    int64_t t = 0;
    for (size_t d = dims.size(); d-- > 0;) {
      f += rest % dims[d] * from[d];
      t += rest % dims[d] * to[d];
      rest /= dims[d];
    }
    want[static_cast<size_t>(t)] = source[static_cast<size_t>(f)];
  }
  const StridedDims input{dims, from};
  StridedCopy(BroadcastLoops({dims, to}, {&input, 1}), source.data() + base, target.data(), sizeof(T), pool);
  EXPECT_EQ(target, want);
}

void CheckAllSizes(const Dims& dims, const Dims& from, int64_t base, const Dims& to) {
  ThreadPool two(2);
  for (ThreadPool* pool : {static_cast<ThreadPool*>(nullptr), &two}) {
    Check<uint8_t>(dims, from, base, to, pool);
    Check<uint16_t>(dims, from, base, to, pool);
    Check<uint32_t>(dims, from, base, to, pool);
    Check<uint64_t>(dims, from, base, to, pool);
  }
}

TEST(StridedCopy, Transposes) {
  for (const int64_t rows : {1, 3, 4, 17, 64, 130}) {
    for (const int64_t cols : {1, 4, 5, 33, 200}) {
      SCOPED_TRACE(testing::Message() << rows << " x " << cols);
      CheckAllSizes({rows, cols}, {1, rows}, 0, {cols, 1});
      CheckAllSizes({3, rows, cols}, {rows * cols, 1, rows}, 0, {rows * cols, cols, 1});
    }
  }
}

TEST(StridedCopy, HeadsOfAttention) {
  // [2, 10, 3, 16] to [2, 3, 10, 16] and back.
  CheckAllSizes({2, 3, 10, 16}, {480, 16, 48, 1}, 0, RowMajor({2, 3, 10, 16}));
  CheckAllSizes({2, 10, 3, 16}, {480, 16, 160, 1}, 0, RowMajor({2, 10, 3, 16}));
  // To [2, 3, 16, 10]: the last two axes as well.
  CheckAllSizes({2, 3, 16, 10}, {480, 16, 1, 48}, 0, RowMajor({2, 3, 16, 10}));
}

TEST(StridedCopy, LayoutsWithGaps) {
  // Plain to channels last with padded pixels, and back.
  CheckAllSizes({2, 19, 35}, {665, 35, 1}, 0, {35 * 24, 1, 24});
  CheckAllSizes({2, 19, 35}, {35 * 24, 1, 24}, 0, {665, 35, 1});
}

TEST(StridedCopy, SlicesAndRepetitions) {
  CheckAllSizes({5, 7}, {40, 2}, 3, {7, 1});      // steps
  CheckAllSizes({5, 7}, {-20, -1}, 100, {7, 1});  // backwards
  CheckAllSizes({5, 7}, {0, 1}, 2, {7, 1});       // a row repeated
  CheckAllSizes({5, 7}, {3, 0}, 0, {7, 1});       // a column repeated
  CheckAllSizes({300, 3}, {3, 1}, 0, {7, 1});     // short rows into a wider tensor
  CheckAllSizes({70000}, {1}, 1, {1});            // one long row
  CheckAllSizes({30000}, {1}, 1, {3});            // a column of a wider tensor
  CheckAllSizes({30000}, {5}, 1, {1});            // and out of one
  CheckAllSizes({9, 1000, 5}, {5, 45, 1}, 0, {6000, 6, 1});
  CheckAllSizes({50, 16, 2, 2}, {64, 2, 32, 1}, 0, RowMajor({50, 16, 2, 2}));  // small blocks
  CheckAllSizes({3, 2, 2, 2, 2}, {16, 2, 8, 4, 1}, 0, RowMajor({3, 2, 2, 2, 2}));
}

TEST(StridedCopy, ScalarsAndNothing) {
  CheckAllSizes({}, {}, 0, {});
  CheckAllSizes({1, 1}, {5, 5}, 2, {1, 1});
  const Dims dims = {3, 0};
  const Dims strides = {0, 1};
  const StridedDims view{dims, strides};
  StridedCopy(BroadcastLoops(view, {&view, 1}), nullptr, nullptr, 4, nullptr);
}

}  // namespace
}  // namespace wherry::cpu
