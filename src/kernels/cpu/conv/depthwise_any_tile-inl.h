// The tiles of depthwise convolutions of any kernel, stride and dilation, and of groups of channels.
// Per-instruction-set header: the guard toggles.
#if defined(WHERRY_KERNELS_CPU_CONV_DEPTHWISE_ANY_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WHERRY_KERNELS_CPU_CONV_DEPTHWISE_ANY_TILE_INL_H_
#undef WHERRY_KERNELS_CPU_CONV_DEPTHWISE_ANY_TILE_INL_H_
#else
#define WHERRY_KERNELS_CPU_CONV_DEPTHWISE_ANY_TILE_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "kernels/cpu/conv/depthwise_job-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {

// A tap's pixel outside the image.
alignas(64) inline constexpr float kZeroPixel[16] = {};

// One vector of channels of one row of kColumns outputs, for any kernel. A weight is loaded once per tap and an input
// once per tap and output, which the load units can just supply.
template <class Channels, int kColumns, TilePart kPart>
HWY_INLINE void DepthwiseAnyVector(const DepthwiseJob& job, int64_t c) {
  constexpr int kGroup = Channels::kGroup;
  const Channels channels(job, c);
  const float* weight = DepthwiseWeight(job, c);
  FloatVec acc[1][kColumns];
  StartDepthwise<kPart>(job, c, acc);
  const int64_t step = job.stride_width * job.in_pixel;
  for (int64_t ky = 0; ky < job.kernel_height; ++ky) {
    const int64_t y = ky * job.dilation_height;
    if (y < job.row_begin || y >= job.row_end) continue;
    for (int64_t kx = 0; kx < job.kernel_width; ++kx) {
      const int64_t column = kx * job.dilation_width;
      const float* const in = job.in + y * job.in_row + column * job.in_pixel + channels.first();
      const float* pixels[kColumns];
      WHERRY_UNROLL
      for (int x = 0; x < kColumns; ++x) pixels[x] = in + x * step;
      if (kPart != TilePart::kWhole &&
          (column < job.column_begin || column + (kColumns - 1) * job.stride_width >= job.column_end)) {
        WHERRY_UNROLL
        for (int x = 0; x < kColumns; ++x) {
          const int64_t at = column + x * job.stride_width;
          if (at < job.column_begin || at >= job.column_end) pixels[x] = kZeroPixel;
        }
      }
      WHERRY_UNROLL
      for (int k = 0; k < kGroup; ++k) {
        const int64_t at = (ky * job.kernel_width + kx) * kGroup + k;
        const FloatVec w = hn::Load(FloatTag(), weight + at * kPanelStep);
        WHERRY_UNROLL
        for (int x = 0; x < kColumns; ++x) {
          acc[0][x] = MulAdd(channels.template Read<kPart>(pixels[x], k), w, acc[0][x]);
        }
      }
    }
  }
  FinishDepthwise<kPart>(job, c, acc);
}

template <class Channels, int kColumns>
HWY_NOINLINE void DepthwiseAnyTail(const DepthwiseJob& job, int64_t c) {
  DepthwiseAnyVector<Channels, kColumns, TilePart::kTail>(job, c);
}

template <class Channels, int kColumns, TilePart kPart>
HWY_NOINLINE void DepthwiseAnyTile(const DepthwiseJob& job) {
  const int64_t whole = job.channels / kLanes * kLanes;
  for (int64_t c = 0; c < whole; c += kLanes) DepthwiseAnyVector<Channels, kColumns, kPart>(job, c);
  if (whole < job.channels) DepthwiseAnyTail<Channels, kColumns>(job, whole);
}

}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
