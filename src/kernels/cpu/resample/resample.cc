#include "kernels/cpu/resample/resample.h"

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "base/thread_pool.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/resample/resample.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

HWY_INLINE void CopyFloats(const float* from, float* to, int64_t n) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) Store(Load(from + i), to + i);
  if (i < n) StoreN(LoadN(from + i, n - i), to + i, n - i);
}

// to = the sum of from[t] * weight[t], n floats. kTaps 0: `taps`.
template <int kTaps>
HWY_INLINE void Blend(const float* const* from, const float* weight, int64_t taps, float* to, int64_t n) {
  const int64_t count = kTaps == 0 ? taps : kTaps;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    FloatVec sum = hn::Mul(Load(from[0] + i), Set(weight[0]));
    WHERRY_UNROLL
    for (int64_t t = 1; t < count; ++t) sum = hn::MulAdd(Load(from[t] + i), Set(weight[t]), sum);
    Store(sum, to + i);
  }
  if (i == n) return;
  FloatVec sum = hn::Mul(LoadN(from[0] + i, n - i), Set(weight[0]));
  for (int64_t t = 1; t < count; ++t) sum = hn::MulAdd(LoadN(from[t] + i, n - i), Set(weight[t]), sum);
  StoreN(sum, to + i, n - i);
}

// Taps beyond these are added in further passes.
constexpr int64_t kMostTaps = 16;

void BlendAny(const float* const* from, const float* weight, int64_t taps, float* to, int64_t n) {
  switch (taps) {
    case 2: return Blend<2>(from, weight, taps, to, n);
    case 4: return Blend<4>(from, weight, taps, to, n);
    default: return Blend<0>(from, weight, taps, to, n);
  }
}

// A sum over any number of taps, whose sources `source(t)` gives.
template <typename Source>
HWY_INLINE void BlendTaps(const ResampleTaps& axis, int64_t i, float* to, int64_t n, const Source& source) {
  const float* from[kMostTaps + 1];
  float weight[kMostTaps + 1];
  for (int64_t done = 0; done < axis.taps;) {
    // What is there already is one more tap.
    int64_t count = 0;
    if (done > 0) {
      from[count] = to;
      weight[count++] = 1.0f;
    }
    const int64_t end = std::min(axis.taps, done + kMostTaps);
    for (; done < end; ++done, ++count) {
      from[count] = source(axis.index[static_cast<size_t>(done * axis.out + i)]);
      weight[count] = axis.weight[static_cast<size_t>(done * axis.out + i)];
    }
    BlendAny(from, weight, count, to, n);
  }
}

struct PixelAt {
  const float* row;
  int64_t stride;
  const float* operator()(int64_t index) const { return row + index * stride; }
};

// A row of single floats: gathered.
void BlendColumnsOfFloats(const ResampleTaps& axis, const float* row, float* to) {
  const int64_t out = axis.out;
  for (int64_t i = 0; i < out; i += kLanes) {
    const int64_t n = std::min<int64_t>(kLanes, out - i);
    FloatVec sum = Zero();
    for (int64_t t = 0; t < axis.taps; ++t) {
      const int32_t* const index = axis.index.data() + t * out + i;
      const float* const weight = axis.weight.data() + t * out + i;
      if (n == kLanes) {
        const FloatVec x = hn::GatherIndex(FloatTag(), row, hn::LoadU(IntTag(), index));
        sum = hn::MulAdd(x, Load(weight), sum);
      } else {
        HWY_ALIGN float lanes[kLanes] = {};
        for (int64_t k = 0; k < n; ++k) lanes[k] = row[index[k]];
        sum = hn::MulAdd(hn::Load(FloatTag(), lanes), LoadN(weight, n), sum);
      }
    }
    StoreN(sum, to + i, n);
  }
}

// row: `axis.in` pixels, to: `axis.out`.
void BlendColumns(const ResampleTaps& axis, int64_t inner, const float* row, int64_t row_stride, float* to,
                  int64_t to_stride) {
  if (inner == 1 && row_stride == 1 && to_stride == 1) return BlendColumnsOfFloats(axis, row, to);
  for (int64_t i = 0; i < axis.out; ++i) BlendTaps(axis, i, to + i * to_stride, inner, PixelAt{row, row_stride});
}

// Rows of `count` pixels that are blended into one. Without gaps, a row is one run.
void BlendRows(const ResampleTaps& axis, int64_t i, int64_t count, int64_t inner, const float* rows, int64_t row_size,
               int64_t from_stride, float* to, int64_t to_stride) {
  if (from_stride == inner && to_stride == inner) {
    return BlendTaps(axis, i, to, count * inner, PixelAt{rows, row_size});
  }
  for (int64_t p = 0; p < count; ++p) {
    BlendTaps(axis, i, to + p * to_stride, inner, PixelAt{rows + p * from_stride, row_size});
  }
}

void NearestRow(const ResampleTaps& axis, int64_t inner, const float* row, int64_t row_stride, float* to,
                int64_t to_stride) {
  if (axis.identity && row_stride == inner && to_stride == inner) return CopyFloats(row, to, axis.out * inner);
  if (inner == 1 && row_stride == 1 && to_stride == 1) {
    for (int64_t i = 0; i < axis.out; ++i) to[i] = row[axis.index[static_cast<size_t>(i)]];
    return;
  }
  for (int64_t i = 0; i < axis.out; ++i) {
    const int64_t from = axis.identity ? i : axis.index[static_cast<size_t>(i)];
    CopyFloats(row + from * row_stride, to + i * to_stride, inner);
  }
}

// Rows [begin, end) of the result, those of all images counted through.
void NearestRows(const ResampleShape& s, const float* in, float* out, float* /*scratch*/, int64_t begin, int64_t end) {
  const int64_t in_row = s.columns.in * s.in_pixel_stride;
  const int64_t out_row = s.columns.out * s.out_pixel_stride;
  const float* before = nullptr;
  for (int64_t r = begin; r < end; ++r) {
    const int64_t y = r % s.rows.out;
    const int64_t from = s.rows.identity ? y : s.rows.index[static_cast<size_t>(y)];
    const float* const row = in + (r / s.rows.out * s.rows.in + from) * in_row;
    float* const to = out + r * out_row;
    if (row == before && s.out_pixel_stride == s.inner) {
      CopyFloats(to - out_row, to, out_row);
    } else {
      NearestRow(s.columns, s.inner, row, s.in_pixel_stride, to, s.out_pixel_stride);
    }
    before = row;
  }
}

// Along the rows first, into scratch: `columns.in` pixels.
void RowsFirst(const ResampleShape& s, const float* in, float* out, float* scratch, int64_t begin, int64_t end) {
  const int64_t in_row = s.columns.in * s.in_pixel_stride;
  const int64_t out_row = s.columns.out * s.out_pixel_stride;
  for (int64_t r = begin; r < end; ++r) {
    const int64_t y = r % s.rows.out;
    const float* const image = in + r / s.rows.out * s.rows.in * in_row;
    float* const to = out + r * out_row;
    if (s.rows.identity) {
      BlendColumns(s.columns, s.inner, image + y * in_row, s.in_pixel_stride, to, s.out_pixel_stride);
    } else if (s.columns.identity) {
      BlendRows(s.rows, y, s.columns.in, s.inner, image, in_row, s.in_pixel_stride, to, s.out_pixel_stride);
    } else {
      BlendRows(s.rows, y, s.columns.in, s.inner, image, in_row, s.in_pixel_stride, scratch, s.inner);
      BlendColumns(s.columns, s.inner, scratch, s.inner, to, s.out_pixel_stride);
    }
  }
}

// Input rows that have been resampled along their columns: the last `slots` of them, which are neighbours.
struct RowCache {
  const ResampleShape& shape;
  const float* in;
  float* rows;
  int64_t slots;
  int64_t row_size;
  int64_t held[8] = {-1, -1, -1, -1, -1, -1, -1, -1};  // by slot: the row, those of all images counted through

  const float* operator()(int64_t row) {
    float* const to = rows + row % slots * row_size;
    if (held[row % slots] != row) {
      held[row % slots] = row;
      BlendColumns(shape.columns, shape.inner, in + row * shape.columns.in * shape.in_pixel_stride,
                   shape.in_pixel_stride, to, shape.inner);
    }
    return to;
  }
};

struct CachedRow {
  RowCache& cache;
  int64_t first;
  const float* operator()(int64_t index) const { return cache(first + index); }
};

// Along the columns first. Needs at most as many taps as the cache has slots.
void ColumnsFirst(const ResampleShape& s, const float* in, float* out, float* scratch, int64_t begin, int64_t end) {
  RowCache cache{s, in, scratch, s.rows.taps, s.columns.out * s.inner};
  const int64_t out_row = s.columns.out * s.out_pixel_stride;
  for (int64_t r = begin; r < end; ++r) {
    const CachedRow source{cache, r / s.rows.out * s.rows.in};
    BlendTaps(s.rows, r % s.rows.out, out + r * out_row, s.columns.out * s.inner, source);
  }
}

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {
namespace {

// Rows that become more are read several times: they are resampled once each. Results with gaps would need another
// step.
bool IsColumnsFirst(const ResampleShape& s) {
  return !s.nearest && !s.rows.identity && !s.columns.identity && s.rows.out >= s.rows.in && s.rows.taps <= 8 &&
         s.out_pixel_stride == s.inner;
}

int64_t TaskScratch(const ResampleShape& s) {
  if (s.nearest || s.rows.identity || s.columns.identity) return 0;
  if (IsColumnsFirst(s)) return s.rows.taps * s.columns.out * s.inner;
  return s.columns.in * s.inner;
}

}  // namespace

ResampleTaps ResampleTaps::Of(const ResampleRule& rule, const ResampleAxis& axis) {
  const ResampleTable table = MakeResampleTable(rule, axis);
  ResampleTaps taps;
  taps.in = axis.in;
  taps.out = axis.out;
  taps.taps = table.taps;
  taps.identity = false;
  taps.index.resize(table.index.size());
  taps.weight.resize(table.weight.size());
  for (size_t i = 0; i < table.index.size(); ++i) {
    const size_t element = i / static_cast<size_t>(taps.taps);
    const size_t at = i % static_cast<size_t>(taps.taps) * static_cast<size_t>(taps.out) + element;
    taps.index[at] = CheckedCast<int32_t>(table.index[i], "the position along a resampled axis");
    taps.weight[at] = static_cast<float>(table.weight[i]);
  }
  return taps;
}

int64_t ResampleTasks(const ResampleShape& s, int threads) {
  const int64_t rows = s.outer * s.rows.out;
  // Some 10 us of work each: about a cycle for a vector and tap.
  const int64_t work = rows * s.columns.out * s.inner * (s.rows.taps + s.columns.taps);
  const int64_t most = threads == 1 ? 1 : 4 * int64_t{threads};
  return std::clamp<int64_t>(std::min(rows, work / (1 << 17)), 1, most);
}

int64_t ResampleScratch(const ResampleShape& s, int64_t tasks) {
  return CheckedMul(TaskScratch(s), tasks, "scratch memory of interpolate");
}

void Resample(const ResampleShape& s, int64_t tasks, const float* in, float* out, float* scratch, ThreadPool* pool) {
  const auto nearest = WHERRY_ISA_CALL(NearestRows);
  const auto rows_first = WHERRY_ISA_CALL(RowsFirst);
  const auto columns_first = WHERRY_ISA_CALL(ColumnsFirst);
  const auto run = s.nearest ? nearest : IsColumnsFirst(s) ? columns_first : rows_first;
  const int64_t rows = s.outer * s.rows.out;
  const auto task = [&](int64_t t) {
    run(s, in, out, scratch + t * TaskScratch(s), rows * t / tasks, rows * (t + 1) / tasks);
  };
  if (pool == nullptr || tasks == 1) {
    for (int64_t t = 0; t < tasks; ++t) task(t);
  } else {
    pool->Run(tasks, task);
  }
}

}  // namespace wherry::cpu
#endif  // HWY_ONCE
