#include "kernels/cpu/vector/norm_pixels.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/vector/norm_pixels.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

// Sums of so many pixels are taken before they are added to those of the others.
constexpr int64_t kPixelsAtOnce = 512;

// Of `live` channels: the sums of x - center and of its square.
void VectorMoments(const float* x, int64_t stride, int64_t pixels, const float* center, int64_t live, float* sums,
                   float* squares) {
  const bool whole = live == kLanes;
  const FloatVec c = whole ? Load(center) : LoadN(center, live);
  FloatVec total = Zero();
  FloatVec total_squares = Zero();
  for (int64_t begin = 0; begin < pixels; begin += kPixelsAtOnce) {
    const int64_t end = std::min(pixels, begin + kPixelsAtOnce);
    FloatVec sum[2] = {Zero(), Zero()};
    FloatVec square[2] = {Zero(), Zero()};
    const auto take = [&](int64_t pixel, int j) {
      const float* const from = x + pixel * stride;
      const FloatVec d = hn::Sub(whole ? Load(from) : LoadN(from, live), c);
      sum[j] = hn::Add(sum[j], d);
      square[j] = hn::MulAdd(d, d, square[j]);
    };
    int64_t pixel = begin;
    for (; pixel + 2 <= end; pixel += 2) {
      take(pixel, 0);
      take(pixel + 1, 1);
    }
    if (pixel < end) take(pixel, 0);
    total = hn::Add(total, hn::Add(sum[0], sum[1]));
    total_squares = hn::Add(total_squares, hn::Add(square[0], square[1]));
  }
  StoreN(total, sums, live);
  StoreN(total_squares, squares, live);
}

// Of the channels [begin, end).
void ChannelMoments(const NormPixels& norm, const float* center, int64_t begin, int64_t end, float* sums,
                    float* squares) {
  for (int64_t c = begin; c < end; c += kLanes) {
    VectorMoments(norm.x + c, norm.x_stride, norm.pixels, center + c, std::min(kLanes, end - c), sums + c, squares + c);
  }
}

// y = (x - center) * scale + offset of pixels [begin, end).
void ScalePixels(const NormPixels& norm, const float* center, const float* scale, const float* offset, int64_t begin,
                 int64_t end) {
  for (int64_t pixel = begin; pixel < end; ++pixel) {
    const float* const x = norm.x + pixel * norm.x_stride;
    float* const y = norm.y + pixel * norm.y_stride;
    int64_t c = 0;
    for (; c + kLanes <= norm.channels; c += kLanes) {
      Store(hn::MulAdd(hn::Sub(Load(x + c), Load(center + c)), Load(scale + c), Load(offset + c)), y + c);
    }
    if (c == norm.channels) continue;
    const int64_t live = norm.channels - c;
    const FloatVec d = hn::Sub(LoadN(x + c, live), LoadN(center + c, live));
    StoreN(hn::MulAdd(d, LoadN(scale + c, live), LoadN(offset + c, live)), y + c, live);
  }
}

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {
namespace {

float SumOf(const float* x, int64_t n) {
  float sum = 0.0f;
  for (int64_t i = 0; i < n; ++i) sum += x[i];
  return sum;
}

}  // namespace

void NormalizePixels(const NormPixels& norm, float* scratch, ThreadPool* pool) {
  const auto moments = WHERRY_ISA_CALL(ChannelMoments);
  const auto scale_pixels = WHERRY_ISA_CALL(ScalePixels);
  float* const center = scratch;
  float* const sums = center + norm.channels;
  float* const squares = sums + norm.channels;
  float* const offset = squares + norm.channels;
  // A cache line of channels, of which a vector is at most one; and about 5 us a chunk at least.
  constexpr int64_t kBlock = 16;
  constexpr int64_t kMinElements = 32768;
  const int64_t blocks = (norm.channels + kBlock - 1) / kBlock;
  const auto sum_up = [&] {
    ParallelFor(pool, blocks, std::max<int64_t>(1, kMinElements / std::max<int64_t>(1, norm.pixels * kBlock)),
                [&](int64_t begin, int64_t end) {
                  moments(norm, center, begin * kBlock, std::min(norm.channels, end * kBlock), sums, squares);
                });
  };
  std::fill_n(center, norm.channels, 0.0f);
  sum_up();
  const int64_t each = norm.channels / norm.groups;
  const float count = static_cast<float>(each * norm.pixels);
  for (int64_t c = 0; c < norm.channels; c += each) std::fill_n(center + c, each, SumOf(sums + c, each) / count);
  sum_up();
  // The sums become scales.
  for (int64_t c = 0; c < norm.channels; c += each) {
    // What the center is off the mean is the mean of what is left.
    const float correction = SumOf(sums + c, each) / count;
    // Not std::max, which would turn NaN into 0.
    float variance = SumOf(squares + c, each) / count - correction * correction;
    if (variance < 0.0f) variance = 0.0f;
    const float inverse = 1.0f / std::sqrt(variance + norm.epsilon);
    for (int64_t i = c; i < c + each; ++i) {
      const float gain = norm.gain == nullptr ? 1.0f : norm.gain[i];
      sums[i] = inverse * gain;
      offset[i] = -correction * inverse * gain + (norm.bias == nullptr ? 0.0f : norm.bias[i]);
    }
  }
  ParallelFor(pool, norm.pixels, std::max<int64_t>(1, kMinElements / std::max<int64_t>(1, norm.channels)),
              [&](int64_t begin, int64_t end) { scale_pixels(norm, center, sums, offset, begin, end); });
}

}  // namespace wherry::cpu
#endif  // HWY_ONCE
