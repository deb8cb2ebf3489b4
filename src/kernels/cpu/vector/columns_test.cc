#include "kernels/cpu/vector/columns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/cpu/simd/isa_test_util.h"

namespace wherry::cpu {
namespace {

constexpr int64_t kRows = 13;
constexpr int64_t kStride = 260;

template <typename T>
std::vector<T> Values() {
  std::vector<T> values;
  for (int64_t i = 0; i < kRows * kStride; ++i) values.push_back(static_cast<T>(i * 7919 % 11 - 5));
  return values;
}

template <typename T>
void CheckCumulate(int64_t cols) {
  const std::vector<T> x = Values<T>();
  for (const bool exclusive : {false, true}) {
    for (const bool reverse : {false, true}) {
      std::vector<T> out(x.size(), T{99});
      const int64_t first = reverse ? (kRows - 1) * kStride : 0;
      CumulateColumns(x.data() + first, out.data() + first, kRows, reverse ? -kStride : kStride, cols, exclusive);
      for (int64_t c = 0; c < kStride; ++c) {
        T total = 0;
        for (int64_t r = 0; r < kRows; ++r) {
          const auto at = static_cast<size_t>((reverse ? kRows - 1 - r : r) * kStride + c);
          const T before = total;
          total += x[at];
          ASSERT_EQ(out[at], c >= cols ? T{99} : exclusive ? before : total) << "row " << r << ", column " << c;
        }
      }
    }
  }
}

TEST(ColumnsTest, Cumulate) {
  ForEachIsa([] {
    for (const int64_t cols : {1, 3, 33, 256}) {
      SCOPED_TRACE(cols);
      CheckCumulate<float>(cols);
      CheckCumulate<int32_t>(cols);
      CheckCumulate<int64_t>(cols);
    }
  });
}

template <typename T>
void CheckBest(int64_t cols) {
  std::vector<T> x = Values<T>();
  if (std::numeric_limits<T>::has_quiet_NaN) {
    for (const int64_t row : {4, 7}) x[static_cast<size_t>(row * kStride + 2)] = std::numeric_limits<T>::quiet_NaN();
  }
  for (const bool largest : {false, true}) {
    for (const bool last : {false, true}) {
      std::vector<T> best(x.begin(), x.begin() + cols);
      std::vector<RowIndex<T>> at(static_cast<size_t>(cols), RowIndex<T>{-1});
      BestInColumns<T>({largest, last}, x.data() + kStride, kRows - 1, kStride, cols, best.data(), at.data());
      for (int64_t c = 0; c < cols; ++c) {
        int64_t want = 0;
        for (int64_t r = 1; r < kRows; ++r) {
          const T a = x[static_cast<size_t>(r * kStride + c)];
          const T b = x[static_cast<size_t>(want * kStride + c)];
          if (b != b) break;
          if (a != a || (largest ? a > b : a < b) || (last && a == b)) want = r;
        }
        ASSERT_EQ(int64_t{at[static_cast<size_t>(c)]} + 1, want) << "column " << c;
      }
    }
  }
}

TEST(ColumnsTest, Best) {
  ForEachIsa([] {
    for (const int64_t cols : {1, 3, 33, 256}) {
      SCOPED_TRACE(cols);
      CheckBest<float>(cols);
      CheckBest<int32_t>(cols);
      CheckBest<int64_t>(cols);
    }
  });
}

}  // namespace
}  // namespace wherry::cpu
