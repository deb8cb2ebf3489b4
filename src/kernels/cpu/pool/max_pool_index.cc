#include "kernels/cpu/pool/max_pool_index.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/thread_pool.h"
#include "kernels/cpu/pool/row_grid.h"
#include "kernels/cpu/share_out.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/pool/max_pool_index.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

// Numbers in the order of floats, NaN above all and both zeros one.
HWY_INLINE IntVec Keys(FloatVec v) {
  const IntVec bits = hn::BitCast(IntTag(), hn::Add(v, Zero()));
  const IntVec most = hn::Set(IntTag(), std::numeric_limits<int32_t>::max());
  const IntVec keys = hn::Xor(bits, hn::And(hn::BroadcastSignBit(bits), most));
  return hn::IfThenElse(hn::RebindMask(IntTag(), hn::IsNaN(v)), most, keys);
}

// A column's largest key over the complement of the number of its first row that has it: of two columns, the one with
// the maximum, and of equal ones that with the row above.
HWY_INLINE void StoreTops(IntVec keys, IntVec rows, int64_t* to) {
  hn::StoreInterleaved2(hn::Not(rows), keys, IntTag(), reinterpret_cast<int32_t*>(to));
}

// Of `count` columns. Stores whole vectors.
void FindTops(const RowGrid& rows, int64_t count, int64_t* tops) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const int64_t lanes = std::min(kLanes, count - i);
    IntVec best = hn::Set(IntTag(), std::numeric_limits<int32_t>::min());
    IntVec best_row = hn::Zero(IntTag());
    IntVec row = hn::Zero(IntTag());
    for (int64_t d = 0; d < rows.outer; ++d) {
      const float* p = rows.first + d * rows.outer_step + i;
      for (int64_t r = 0; r < rows.inner; ++r, p += rows.inner_step) {
        const IntVec keys = Keys(lanes == kLanes ? Load(p) : LoadN(p, lanes));
        const auto better = hn::Gt(keys, best);
        best = hn::IfThenElse(better, keys, best);
        best_row = hn::IfThenElse(better, row, best_row);
        row = hn::Add(row, hn::Set(IntTag(), 1));
      }
    }
    StoreTops(best, best_row, tops + i);
  }
}

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {
namespace {

// What vectors store past a row.
constexpr int64_t kMostLanes = 16;

int64_t RowsOfWindows(const IndexPoolShape& s) { return s.planes * s.depth.out * s.rows.out; }
int64_t WorkersFor(const IndexPoolShape& s, int threads) { return std::min<int64_t>(RowsOfWindows(s), threads); }
int64_t TopsOfWorker(const IndexPoolShape& s) { return s.columns.in + kMostLanes; }

// Rows of windows that a worker takes at a time.
int64_t RowsTogether(const IndexPoolShape& s) {
  constexpr int64_t kMinElements = 8192;  // read: a few us
  const int64_t window = std::min(s.depth.kernel, s.depth.in) * std::min(s.rows.kernel, s.rows.in) * s.columns.in;
  return std::max<int64_t>(1, kMinElements / std::max<int64_t>(1, window));
}

template <typename Index>
class RowPool {
 public:
  // `columns`: the windows along a row.
  RowPool(const IndexPoolShape& shape, const PoolWindow* columns, const float* in, float* out, Index* mask)
      : s_(shape), columns_(columns), in_(in), out_(out), mask_(mask), find_tops_(WHERRY_ISA_CALL(FindTops)) {}

  void Run(int64_t row, int64_t* tops) const {
    const PoolWindow rows = PoolWindowAt(s_.rows, row % s_.rows.out);
    const PoolWindow slices = PoolWindowAt(s_.depth, row / s_.rows.out % s_.depth.out);
    const int64_t plane = row / s_.rows.out / s_.depth.out;
    const int64_t width = s_.columns.in;
    const int64_t slice = s_.rows.in * width;
    const float* const in = in_ + plane * s_.depth.in * slice;
    float* const out = out_ + row * s_.columns.out;
    Index* const mask = mask_ + row * s_.columns.out;
    if (rows.count * slices.count == 0) {
      std::fill_n(out, s_.columns.out, -std::numeric_limits<float>::infinity());
      std::fill_n(mask, s_.columns.out, Index{-1});
      return;
    }
    const int64_t first = slices.begin * slice + rows.begin * width;
    find_tops_({in + first, slices.count, slices.step * slice, rows.count, rows.step * width}, width, tops);
    for (int64_t i = 0; i < s_.columns.out; ++i) {
      const PoolWindow& window = columns_[i];
      int64_t top = std::numeric_limits<int64_t>::min();
      int64_t column = -1;
      for (int64_t k = 0, c = window.begin; k < window.count; ++k, c += window.step) {
        const bool better = tops[c] > top;
        top = better ? tops[c] : top;
        column = better ? c : column;
      }
      if (column < 0) {
        out[i] = -std::numeric_limits<float>::infinity();
        mask[i] = -1;
        continue;
      }
      const auto number = static_cast<int64_t>(~static_cast<uint32_t>(top));
      const int64_t down = slices.count == 1 ? 0 : number / rows.count;
      const int64_t position =
          first + down * slices.step * slice + (number - down * rows.count) * rows.step * width + column;
      out[i] = in[position];
      mask[i] = static_cast<Index>(Numbered(plane, position));
    }
  }

 private:
  int64_t Numbered(int64_t plane, int64_t position) const {
    if (s_.order == PositionOrder::kPlane) return position;
    const int64_t base = plane * s_.depth.in * s_.rows.in * s_.columns.in;
    if (s_.order == PositionOrder::kTensor) return base + position;
    const int64_t column = position % s_.columns.in;
    const int64_t row = position / s_.columns.in % s_.rows.in;
    const int64_t depth = position / s_.columns.in / s_.rows.in;
    return base + (column * s_.rows.in + row) * s_.depth.in + depth;
  }

  const IndexPoolShape& s_;
  const PoolWindow* const columns_;
  const float* const in_;
  float* const out_;
  Index* const mask_;
  void (*const find_tops_)(const RowGrid&, int64_t, int64_t*);
};

}  // namespace

size_t MaxPoolIndexScratch(const IndexPoolShape& shape, int threads) {
  return static_cast<size_t>(shape.columns.out) * sizeof(PoolWindow) +
         static_cast<size_t>(WorkersFor(shape, threads) * TopsOfWorker(shape)) * sizeof(int64_t);
}

template <typename Index>
void MaxPoolWithIndex(const IndexPoolShape& shape, const float* in, float* out, Index* mask, void* scratch,
                      ThreadPool* pool) {
  WHERRY_ENFORCE(shape.depth.in * shape.rows.in <= std::numeric_limits<uint32_t>::max(), kUnsupported, "windows over ",
                 shape.depth.in, " times ", shape.rows.in, " rows");
  auto* const columns = static_cast<PoolWindow*>(scratch);
  FillPoolWindows(shape.columns, columns);
  auto* const tops = reinterpret_cast<int64_t*>(columns + shape.columns.out);
  const RowPool<Index> rows(shape, columns, in, out, mask);
  const int64_t count = RowsOfWindows(shape);
  const int64_t together = RowsTogether(shape);
  ShareOut(pool, WorkersFor(shape, pool == nullptr ? 1 : pool->threads()), (count + together - 1) / together,
           [&](int64_t worker, const auto& next) {
             for (int64_t item = next(); item >= 0; item = next()) {
               for (int64_t row = item * together; row < std::min(count, (item + 1) * together); ++row) {
                 rows.Run(row, tops + worker * TopsOfWorker(shape));
               }
             }
           });
}

template void MaxPoolWithIndex(const IndexPoolShape&, const float*, float*, int32_t*, void*, ThreadPool*);
template void MaxPoolWithIndex(const IndexPoolShape&, const float*, float*, int64_t*, void*, ThreadPool*);

}  // namespace wherry::cpu
#endif  // HWY_ONCE
