// Loops down columns that lie side by side: running sums, and the positions of extreme elements. Instantiated for
// float, int32_t and int64_t.
#pragma once

#include <cstdint>
#include <type_traits>

namespace wherry::cpu {

// Columns that one call takes at most.
inline constexpr int64_t kMaxColumns = 256;

// to[r][c] = the sum of from[0][c] to from[r][c], without the last one if `exclusive`, for `cols` columns of `rows`
// rows that are `stride` elements apart (down from the last row if that is negative). Floats are added in double,
// integers wrap.
template <typename T>
void CumulateColumns(const T* from, T* to, int64_t rows, int64_t stride, int64_t cols, bool exclusive);

// Which of two elements is the better one. NaN is better than everything but a NaN before it.
struct BestRule {
  bool largest;
  bool last;  // of equal ones
};

// Rows that BestInColumns takes at most.
inline constexpr int64_t kMaxBestRows = int64_t{1} << 30;

// Where the row r of a column has a better element than best, best becomes that and at becomes r.
template <typename T>
using RowIndex = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
template <typename T>
void BestInColumns(BestRule rule, const T* x, int64_t rows, int64_t stride, int64_t cols, T* best, RowIndex<T>* at);

}  // namespace wherry::cpu
