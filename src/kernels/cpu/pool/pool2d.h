// Maximum and average over windows of f32 images whose channels are innermost (NHWC), one vector of channels at a time.
#pragma once

#include <cstdint>

namespace wherry {
class ThreadPool;
}

namespace wherry::cpu {

enum class PoolKind : uint8_t {
  kMax,                 // NaN in the window is the maximum; -inf for a window without pixels
  kAverage,             // over the window's pixels inside the image; 0 for a window without any
  kAverageWithPadding,  // over its pixels inside image and padding, the latter being 0
  kSum,
};

// How windows lie along one axis. Window i begins at i * stride - pad_before, or if adaptive at floor(i * in / out) and
// ends before ceil((i + 1) * in / out).
struct PoolAxis {
  int64_t in = 0;
  int64_t out = 0;  // given, because it may be rounded up: such a window may reach beyond the padding
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_before = 0;
  int64_t pad_after = 0;
  bool adaptive = false;

  // One window over everything.
  static PoolAxis Global(int64_t size) { return {.in = size, .out = 1, .kernel = size}; }
};

// The pixels of a window inside the image, `step` apart, and how many it has in image and padding.
struct PoolWindow {
  int64_t begin;
  int64_t step;
  int64_t count;
  int64_t padded_count;
};
PoolWindow PoolWindowAt(const PoolAxis& axis, int64_t i);
// Those of all axis.out positions.
void FillPoolWindows(const PoolAxis& axis, PoolWindow* windows);

// Strides in elements; what lies between the channels of two pixels is neither read nor written.
struct PoolShape {
  PoolKind kind = PoolKind::kMax;
  int64_t batch = 1;
  int64_t channels = 0;
  PoolAxis rows;
  PoolAxis columns;
  int64_t in_pixel_stride = 0;
  int64_t out_pixel_stride = 0;
};

// Channels that a thread takes at a time.
inline constexpr int64_t kPoolBlock = 64;

// in, out: the first pixel. Sums are of each window row first, so that the mean of a large image stays exact to a few
// ulp.
void Pool2d(const PoolShape& shape, const float* in, float* out, ThreadPool* pool);
// kMax of bytes; the least of the type for a window without pixels.
template <typename T>  // int8_t or uint8_t
void MaxPool2dBytes(const PoolShape& shape, const T* in, T* out, ThreadPool* pool);

}  // namespace wherry::cpu
