#include "kernels/cpu/pool/pool3d.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "kernels/cpu/pool/row_grid.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/pool/pool3d.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/vector/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

// Columns of the input (and its padding) that are brought together at a time, with what vectors read past them.
constexpr int64_t kColumns = 1024 + 2 * kMostPoolColumns;

// to[i] = the sum or maximum of what the rows have at i.
template <class Op>
HWY_INLINE FloatVec AcrossRows(const RowGrid& rows, int64_t at, const Op& op) {
  FloatVec value = Set(Op::kIdentity);
  for (int64_t d = 0; d < rows.outer; ++d) {
    const float* p = rows.first + d * rows.outer_step + at;
    for (int64_t r = 0; r < rows.inner; ++r, p += rows.inner_step) value = op(value, Load(p));
  }
  return value;
}
template <class Op>
HWY_INLINE void CombineRows(const RowGrid& rows, int64_t count, float* to, const Op& op) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) Store(AcrossRows(rows, i, op), to + i);
  if (i == count) return;
  if (count >= kLanes) return Store(AcrossRows(rows, count - kLanes, op), to + count - kLanes);
  for (; i < count; ++i) {
    double value = static_cast<double>(Op::kIdentity);
    for (int64_t d = 0; d < rows.outer; ++d) {
      const float* p = rows.first + d * rows.outer_step + i;
      for (int64_t r = 0; r < rows.inner; ++r, p += rows.inner_step) value = op.Scalar(value, static_cast<double>(*p));
    }
    to[i] = static_cast<float>(value);
  }
}

template <int64_t kStride>
HWY_INLINE FloatVec EveryOther(const float* p) {
  if constexpr (kStride == 1) return Load(p);
  FloatVec even;
  FloatVec odd;
  hn::LoadInterleaved2(FloatTag(), p, even, odd);
  return even;
}

// The windows from each kStride-th float on. Vectors are stored whole: `to` has room for them, and `from` for what they
// read.
template <int64_t kStride, class Op>
HWY_INLINE void CombineColumns(const PoolAxis& axis, const float* from, int64_t count, float* to, const Op& op) {
  for (int64_t i = 0; i < count; i += kLanes) {
    FloatVec value = EveryOther<kStride>(from + i * kStride);
    for (int64_t k = 1; k < axis.kernel; ++k) {
      value = op(value, EveryOther<kStride>(from + i * kStride + k * axis.dilation));
    }
    Store(value, to + i);
  }
}
template <class Op>
HWY_INLINE void CombineAnyColumns(const PoolAxis& axis, const float* from, int64_t count, float* to, const Op& op) {
  for (int64_t i = 0; i < count; ++i) {
    double value = static_cast<double>(from[i * axis.stride]);
    for (int64_t k = 1; k < axis.kernel; ++k) {
      value = op.Scalar(value, static_cast<double>(from[i * axis.stride + k * axis.dilation]));
    }
    to[i] = static_cast<float>(value);
  }
}

template <class Op>
class VolumePool {
 public:
  VolumePool(const VolumePoolShape& shape, const float* in, float* out, const Op& op)
      : s_(shape), in_(in), out_(out), op_(op) {
    // Padding stays what it is here.
    std::fill_n(columns_, kColumns + 2 * kMostLanes, Op::kIdentity);
    const int64_t span = s_.columns.dilation * (s_.columns.kernel - 1) + 1;
    block_ = std::max<int64_t>(1, std::min((kColumns - span) / s_.columns.stride + 1, kResults));
  }

  // One row of results.
  void Run(int64_t row) {
    const PoolWindow rows = PoolWindowAt(s_.rows, row % s_.rows.out);
    const PoolWindow slices = PoolWindowAt(s_.depth, row / s_.rows.out % s_.depth.out);
    const int64_t volume = row / s_.rows.out / s_.depth.out;
    const int64_t width = s_.columns.in;
    const int64_t slice = s_.rows.in * width;
    const RowGrid grid{in_ + (volume * s_.depth.in + slices.begin) * slice + rows.begin * width, slices.count,
                       slices.step * slice, rows.count, rows.step * width};
    const bool padded = s_.kind == PoolKind::kAverageWithPadding;
    const int64_t pixels = padded ? slices.padded_count * rows.padded_count : slices.count * rows.count;
    for (int64_t at = 0; at < s_.columns.out; at += block_) {
      const int64_t count = std::min(block_, s_.columns.out - at);
      RunBlock(grid, at, count);
      float* const to = out_ + row * s_.columns.out + at;
      if (s_.kind == PoolKind::kMax || s_.kind == PoolKind::kSum) {
        std::copy_n(results_, count, to);
        continue;
      }
      for (int64_t i = 0; i < count; ++i) {
        if (IsInside(at + i)) {
          to[i] = results_[i] * Inverse(pixels * s_.columns.kernel);
          continue;
        }
        const PoolWindow window = PoolWindowAt(s_.columns, at + i);
        to[i] = results_[i] * Inverse(pixels * (padded ? window.padded_count : window.count));
      }
    }
  }

 private:
  static constexpr int64_t kMostLanes = 16;
  static constexpr int64_t kResults = 1024;

  static float Inverse(int64_t pixels) { return pixels > 0 ? 1.0f / static_cast<float>(pixels) : 0.0f; }

  bool IsInside(int64_t i) const {
    const int64_t first = i * s_.columns.stride - s_.columns.pad_before;
    return first >= 0 && first + s_.columns.dilation * (s_.columns.kernel - 1) < s_.columns.in;
  }

  // Results `at` and on, sums not yet divided.
  void RunBlock(const RowGrid& grid, int64_t at, int64_t count) {
    const PoolAxis& axis = s_.columns;
    const int64_t first = at * axis.stride - axis.pad_before;
    const int64_t last = first + (count - 1) * axis.stride + axis.dilation * (axis.kernel - 1) + 1;
    const int64_t begin = std::clamp<int64_t>(first, 0, axis.in);
    const int64_t end = std::clamp<int64_t>(last, begin, axis.in);
    RowGrid rows = grid;
    rows.first += begin;
    // From block to block the padding moves.
    if (axis.out > block_) std::fill_n(columns_, kColumns, Op::kIdentity);
    if (begin < end) CombineRows(rows, end - begin, columns_ + (begin - first), op_);
    if (axis.stride == 1) {
      CombineColumns<1>(axis, columns_, count, results_, op_);
    } else if (axis.stride == 2) {
      CombineColumns<2>(axis, columns_, count, results_, op_);
    } else {
      CombineAnyColumns(axis, columns_, count, results_, op_);
    }
  }

  const VolumePoolShape& s_;
  const float* const in_;
  float* const out_;
  const Op op_;
  int64_t block_;
  alignas(64) float columns_[kColumns + 2 * kMostLanes];
  alignas(64) float results_[kResults + kMostLanes];
};

template <class Op>
void RunRows(const VolumePoolShape& shape, const float* in, float* out, int64_t begin, int64_t end, const Op& op) {
  VolumePool<Op> pool(shape, in, out, op);
  for (int64_t row = begin; row < end; ++row) pool.Run(row);
}

void PoolRows(const VolumePoolShape& shape, const float* in, float* out, int64_t begin, int64_t end) {
  if (shape.kind == PoolKind::kMax) {
    RunRows(shape, in, out, begin, end, MaxOp());
  } else {
    RunRows(shape, in, out, begin, end, SumOp());
  }
}

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {

void Pool3d(const VolumePoolShape& shape, const float* in, float* out, ThreadPool* pool) {
  const auto run = WHERRY_ISA_CALL(PoolRows);
  const int64_t rows = shape.volumes * shape.depth.out * shape.rows.out;
  if (rows == 0 || shape.columns.out == 0) return;
  constexpr int64_t kGrain = 32768;  // elements read, a few us
  const int64_t window =
      std::min(shape.depth.kernel, shape.depth.in) * std::min(shape.rows.kernel, shape.rows.in) * shape.columns.in;
  ParallelFor(pool, rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, window)),
              [&](int64_t begin, int64_t end) { run(shape, in, out, begin, end); });
}

}  // namespace wherry::cpu
#endif  // HWY_ONCE
