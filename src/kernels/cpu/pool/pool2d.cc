#include "kernels/cpu/pool/pool2d.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/pool/pool2d.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

struct Window {
  const float* in;  // its first pixel inside the image, channel 0
  int64_t rows;
  int64_t columns;
  int64_t row_step;  // in floats
  int64_t column_step;
  float scale;  // of a sum
};

// A vector of channels of a window. A maximum and whether anything was NaN are known apart, so that each tap waits for
// one comparison only.
template <PoolKind kKind>
HWY_INLINE void Accumulate(FloatVec x, FloatVec* value, FloatMask* is_nan) {
  if constexpr (kKind == PoolKind::kMax) {
    *value = hn::Max(*value, x);
    *is_nan = hn::Or(*is_nan, hn::IsNaN(x));
  } else {
    *value = hn::Add(*value, x);
  }
}

// kVectors vectors of channels from c on; with kTail one vector of `count` < kLanes channels.
template <PoolKind kKind, int kVectors, bool kTail>
HWY_INLINE void PoolVectors(const Window& window, float* out, int64_t c, int64_t count) {
  constexpr bool kIsMax = kKind == PoolKind::kMax;
  const FloatVec start = Set(kIsMax ? -std::numeric_limits<float>::infinity() : 0.0f);
  FloatVec all[kVectors];
  FloatMask is_nan[kVectors];
  WHERRY_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    all[v] = start;
    is_nan[v] = hn::IsNaN(start);
  }
  for (int64_t y = 0; y < window.rows; ++y) {
    FloatVec sums[kVectors];
    WHERRY_UNROLL
    for (int v = 0; v < kVectors; ++v) sums[v] = start;
    FloatVec* const values = kIsMax ? all : sums;
    const float* p = window.in + y * window.row_step + c;
    for (int64_t x = 0; x < window.columns; ++x) {
      WHERRY_UNROLL
      for (int v = 0; v < kVectors; ++v)
        Accumulate<kKind>(kTail ? LoadN(p, count) : Load(p + v * kLanes), &values[v], &is_nan[v]);
      p += window.column_step;
    }
    if constexpr (!kIsMax) {
      WHERRY_UNROLL
      for (int v = 0; v < kVectors; ++v) all[v] = hn::Add(all[v], sums[v]);
    }
  }
  WHERRY_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    const FloatVec result =
        kIsMax ? hn::IfThenElse(is_nan[v], hn::NaN(FloatTag()), all[v]) : hn::Mul(all[v], Set(window.scale));
    if constexpr (kTail) {
      StoreN(result, out + c, count);
    } else {
      Store(result, out + c + v * kLanes);
    }
  }
}

template <PoolKind kKind>
void PoolChannels(const Window& window, float* out, int64_t begin, int64_t end) {
  constexpr int kVectors = 4;
  int64_t c = begin;
  for (; c + kVectors * kLanes <= end; c += kVectors * kLanes) PoolVectors<kKind, kVectors, false>(window, out, c, 0);
  for (; c + kLanes <= end; c += kLanes) PoolVectors<kKind, 1, false>(window, out, c, 0);
  if (c < end) PoolVectors<kKind, 1, true>(window, out, c, end - c);
}

// Calls f(pixel, row, rows, columns) for the pixels [begin, end) of the result: its number, its window's first row of
// all images, and its windows. `columns`: those of every column, since divisions take longer than a small window.
template <typename Function>
HWY_INLINE void ForEachPixel(const PoolShape& s, const PoolWindow* columns, int64_t begin, int64_t end,
                             const Function& f) {
  int64_t line = begin / s.columns.out;
  int64_t column = begin % s.columns.out;
  for (int64_t pixel = begin; pixel < end; ++line, column = 0) {
    const PoolWindow rows = PoolWindowAt(s.rows, line % s.rows.out);
    const int64_t row = line / s.rows.out * s.rows.in + rows.begin;
    for (; column < s.columns.out && pixel < end; ++column, ++pixel) f(pixel, row, rows, columns[column]);
  }
}

// The blocks [begin, end) of kPoolBlock channels, counted pixel by pixel of the output.
template <PoolKind kKind>
void PoolBlocksOf(const PoolShape& s, const PoolWindow* columns, const float* in, float* out, int64_t begin,
                  int64_t end) {
  const int64_t blocks = (s.channels + kPoolBlock - 1) / kPoolBlock;
  const int64_t in_row = s.columns.in * s.in_pixel_stride;
  const auto pool = [&](int64_t pixel, int64_t row, const PoolWindow& of_rows, const PoolWindow& of_columns) {
    const int64_t count = s.kind == PoolKind::kAverageWithPadding ? of_rows.padded_count * of_columns.padded_count
                                                                  : of_rows.count * of_columns.count;
    const Window window{in + row * in_row + of_columns.begin * s.in_pixel_stride,
                        of_rows.count,
                        of_columns.count,
                        of_rows.step * in_row,
                        of_columns.step * s.in_pixel_stride,
                        s.kind == PoolKind::kSum ? 1.0f
                        : count > 0              ? 1.0f / static_cast<float>(count)
                                                 : 0.0f};
    const int64_t first = std::max<int64_t>(0, begin - pixel * blocks) * kPoolBlock;
    const int64_t last = std::min(s.channels, (end - pixel * blocks) * kPoolBlock);
    PoolChannels<kKind>(window, out + pixel * s.out_pixel_stride, first, last);
  };
  ForEachPixel(s, columns, begin / blocks, (end + blocks - 1) / blocks, pool);
}
void PoolBlocks(const PoolShape& s, const PoolWindow* columns, const float* in, float* out, int64_t begin,
                int64_t end) {
  if (s.kind == PoolKind::kMax) {
    PoolBlocksOf<PoolKind::kMax>(s, columns, in, out, begin, end);
  } else {
    PoolBlocksOf<PoolKind::kAverage>(s, columns, in, out, begin, end);
  }
}

// A window of bytes: its first pixel inside the image, and steps in elements.
template <typename T>
struct ByteWindow {
  const T* in;
  int64_t rows;
  int64_t columns;
  int64_t row_step;
  int64_t column_step;
};

template <typename T>
HWY_INLINE void MaxOfLanes(const ByteWindow<T>& window, int64_t c, T* to) {
  const hn::ScalableTag<T> d;
  auto most = hn::Set(d, std::numeric_limits<T>::lowest());
  for (int64_t y = 0; y < window.rows; ++y) {
    const T* p = window.in + y * window.row_step + c;
    for (int64_t x = 0; x < window.columns; ++x, p += window.column_step) most = hn::Max(most, hn::LoadU(d, p));
  }
  hn::StoreU(most, d, to + c);
}

// The pixels [begin, end) of the result. The last vector of channels overlaps the one before it.
template <typename T>
void MaxBytes(const PoolShape& s, const PoolWindow* columns, const T* in, T* out, int64_t begin, int64_t end) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  const int64_t in_row = s.columns.in * s.in_pixel_stride;
  const auto pool = [&](int64_t pixel, int64_t row, const PoolWindow& of_rows, const PoolWindow& of_columns) {
    const ByteWindow<T> window{in + row * in_row + of_columns.begin * s.in_pixel_stride, of_rows.count,
                               of_columns.count, of_rows.step * in_row, of_columns.step * s.in_pixel_stride};
    T* const to = out + pixel * s.out_pixel_stride;
    int64_t c = 0;
    for (; c + lanes <= s.channels; c += lanes) MaxOfLanes(window, c, to);
    if (c < s.channels && s.channels >= lanes) {
      MaxOfLanes(window, s.channels - lanes, to);
      return;
    }
    for (; c < s.channels; ++c) {
      T most = std::numeric_limits<T>::lowest();
      for (int64_t y = 0; y < window.rows; ++y) {
        const T* p = window.in + y * window.row_step + c;
        for (int64_t x = 0; x < window.columns; ++x) most = std::max(most, p[x * window.column_step]);
      }
      to[c] = most;
    }
  };
  ForEachPixel(s, columns, begin, end, pool);
}
void MaxOfSigned(const PoolShape& s, const PoolWindow* columns, const int8_t* in, int8_t* out, int64_t begin,
                 int64_t end) {
  MaxBytes(s, columns, in, out, begin, end);
}
void MaxOfUnsigned(const PoolShape& s, const PoolWindow* columns, const uint8_t* in, uint8_t* out, int64_t begin,
                   int64_t end) {
  MaxBytes(s, columns, in, out, begin, end);
}

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {
namespace {

// How many of begin, begin + step, ... (kernel of them) are below `limit`.
int64_t CountBelow(int64_t begin, int64_t step, int64_t kernel, int64_t limit) {
  return limit <= begin ? 0 : std::min(kernel, (limit - begin + step - 1) / step);
}

}  // namespace

PoolWindow PoolWindowAt(const PoolAxis& a, int64_t i) {
  if (a.adaptive) {
    const int64_t begin = i * a.in / a.out;
    const int64_t count = ((i + 1) * a.in + a.out - 1) / a.out - begin;
    return {begin, 1, count, count};
  }
  const int64_t begin = i * a.stride - a.pad_before;
  const int64_t before = CountBelow(begin, a.dilation, a.kernel, 0);  // taps in the front padding
  // Negative padding crops the image.
  const int64_t inside = CountBelow(begin, a.dilation, a.kernel, a.in + std::min<int64_t>(a.pad_after, 0)) - before;
  return {begin + before * a.dilation, a.dilation, std::max<int64_t>(inside, 0),
          CountBelow(begin, a.dilation, a.kernel, a.in + a.pad_after)};
}

void FillPoolWindows(const PoolAxis& axis, PoolWindow* windows) {
  for (int64_t i = 0; i < axis.out; ++i) windows[i] = PoolWindowAt(axis, i);
}

namespace {

// Columns that never meet in a window are channels. A local response norm's window goes over the channels of an image,
// taken as the rows of one with a single channel: 0.06 ms for 64 channels of 56x56, and 24 where columns stay columns.
PoolShape WithColumnsAsChannels(PoolShape shape) {
  const PoolAxis& columns = shape.columns;
  const bool meet = columns.out != columns.in || (!columns.adaptive && columns.kernel * columns.stride != 1) ||
                    columns.pad_before != 0;
  if (meet || shape.in_pixel_stride != shape.channels || shape.out_pixel_stride != shape.channels) return shape;
  shape.channels *= columns.in;
  shape.in_pixel_stride = shape.out_pixel_stride = shape.channels;
  shape.columns = {.in = 1, .out = 1};
  return shape;
}

std::vector<PoolWindow> WindowsOf(const PoolAxis& axis) {
  std::vector<PoolWindow> windows(static_cast<size_t>(axis.out));
  FillPoolWindows(axis, windows.data());
  return windows;
}

}  // namespace

void Pool2d(const PoolShape& given, const float* in, float* out, ThreadPool* pool) {
  const PoolShape shape = WithColumnsAsChannels(given);
  const auto pool_blocks = WHERRY_ISA_CALL(PoolBlocks);
  const int64_t blocks =
      shape.batch * shape.rows.out * shape.columns.out * ((shape.channels + kPoolBlock - 1) / kPoolBlock);
  const int64_t window = shape.rows.adaptive || shape.columns.adaptive
                             ? shape.rows.in * shape.columns.in / (shape.rows.out * shape.columns.out + 1) + 1
                             : shape.rows.kernel * shape.columns.kernel;
  // Some 10 us of work to a chunk: a block's pixel takes about 4 cycles.
  const int64_t grain = std::max<int64_t>(1, 8192 / std::max<int64_t>(1, window));
  const std::vector<PoolWindow> columns = WindowsOf(shape.columns);
  ParallelFor(pool, blocks, grain,
              [&](int64_t begin, int64_t end) { pool_blocks(shape, columns.data(), in, out, begin, end); });
}

template <typename T>
void MaxPool2dBytes(const PoolShape& given, const T* in, T* out, ThreadPool* pool) {
  const PoolShape shape = WithColumnsAsChannels(given);
  const auto max_of = [] {
    if constexpr (std::is_same_v<T, int8_t>) {
      return WHERRY_ISA_CALL(MaxOfSigned);
    } else {
      return WHERRY_ISA_CALL(MaxOfUnsigned);
    }
  }();
  const int64_t window = shape.rows.adaptive || shape.columns.adaptive ? 1 : shape.rows.kernel * shape.columns.kernel;
  const int64_t grain = std::max<int64_t>(1, 1'000'000 / std::max<int64_t>(1, window * shape.channels));
  const std::vector<PoolWindow> columns = WindowsOf(shape.columns);
  ParallelFor(pool, shape.batch * shape.rows.out * shape.columns.out, grain,
              [&](int64_t begin, int64_t end) { max_of(shape, columns.data(), in, out, begin, end); });
}
template void MaxPool2dBytes(const PoolShape& shape, const int8_t* in, int8_t* out, ThreadPool* pool);
template void MaxPool2dBytes(const PoolShape& shape, const uint8_t* in, uint8_t* out, ThreadPool* pool);

}  // namespace wherry::cpu
#endif  // HWY_ONCE
