#include "kernels/cpu/vector/columns.h"

#include <array>

#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/simd/plain_loop.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/vector/columns.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

template <typename T>
struct TotalOf {
  using Type = std::make_unsigned_t<T>;
};
template <>
struct TotalOf<float> {
  using Type = double;
};

template <typename T>
void Cumulate(const T* from, T* to, int64_t rows, int64_t stride, int64_t cols, bool exclusive) {
  using Total = typename TotalOf<T>::Type;
  if (cols == 1) {
    Total total = 0;
    for (int64_t r = 0; r < rows; ++r) {
      const Total before = total;
      total += static_cast<Total>(from[r * stride]);
      to[r * stride] = static_cast<T>(exclusive ? before : total);
    }
    return;
  }
  Total totals[kMaxColumns] = {};
  for (int64_t r = 0; r < rows; ++r, from += stride, to += stride) {
    if (exclusive) {
      WHERRY_INDEPENDENT
      for (int64_t c = 0; c < cols; ++c) {
        const Total before = totals[c];
        totals[c] = before + static_cast<Total>(from[c]);
        to[c] = static_cast<T>(before);
      }
    } else {
      WHERRY_INDEPENDENT
      for (int64_t c = 0; c < cols; ++c) {
        totals[c] += static_cast<Total>(from[c]);
        to[c] = static_cast<T>(totals[c]);
      }
    }
  }
}

template <typename T, bool kLargest, bool kLast>
void Best(const T* x, int64_t rows, int64_t stride, int64_t cols, T* best, RowIndex<T>* at) {
  for (int64_t r = 0; r < rows; ++r, x += stride) {
    const RowIndex<T> row = static_cast<RowIndex<T>>(r);
    WHERRY_INDEPENDENT
    for (int64_t c = 0; c < cols; ++c) {
      const T value = x[c];
      const T leader = best[c];
      // Not what loses, so that NaN wins.
      const bool loses =
          kLargest ? (kLast ? value < leader : value <= leader) : (kLast ? value > leader : value >= leader);
      const bool wins = (leader == leader) & !loses;
      best[c] = wins ? value : leader;
      at[c] = wins ? row : at[c];
    }
  }
}

template <typename T>
using BestFn = void (*)(const T*, int64_t, int64_t, int64_t, T*, RowIndex<T>*);

// [largest][last]
template <typename T>
constexpr std::array<std::array<BestFn<T>, 2>, 2> kBest = {
    {{&Best<T, false, false>, &Best<T, false, true>}, {&Best<T, true, false>, &Best<T, true, true>}}};

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {

template <typename T>
void CumulateColumns(const T* from, T* to, int64_t rows, int64_t stride, int64_t cols, bool exclusive) {
  WHERRY_ISA_CALL(Cumulate<T>)(from, to, rows, stride, cols, exclusive);
}

template <typename T>
void BestInColumns(BestRule rule, const T* x, int64_t rows, int64_t stride, int64_t cols, T* best, RowIndex<T>* at) {
  (*WHERRY_ISA_CALL(kBest<T>))[rule.largest ? 1 : 0][rule.last ? 1 : 0](x, rows, stride, cols, best, at);
}

#define WHERRY_INSTANTIATE(T)                                                   \
  template void CumulateColumns(const T*, T*, int64_t, int64_t, int64_t, bool); \
  template void BestInColumns(BestRule, const T*, int64_t, int64_t, int64_t, T*, RowIndex<T>*);
WHERRY_INSTANTIATE(float)
WHERRY_INSTANTIATE(int32_t)
WHERRY_INSTANTIATE(int64_t)
#undef WHERRY_INSTANTIATE

}  // namespace wherry::cpu
#endif  // HWY_ONCE
