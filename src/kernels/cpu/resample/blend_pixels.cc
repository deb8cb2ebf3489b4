#include "kernels/cpu/resample/blend_pixels.h"

#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/resample/blend_pixels.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/vector/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

// kVectors whole vectors of channels.
template <int kVectors>
HWY_INLINE void BlendVectors(const PixelCross& cross, const float* image, int64_t row_stride, int64_t pixel_stride,
                             float scale, float* to) {
  FloatVec sum[kVectors];
  WHERRY_UNROLL
  for (int v = 0; v < kVectors; ++v) sum[v] = Zero();
  for (int64_t r = 0; r < cross.row_count; ++r) {
    const float* const row = image + cross.rows[r].index * row_stride;
    for (int64_t c = 0; c < cross.column_count; ++c) {
      const float* const pixel = row + cross.columns[c].index * pixel_stride;
      const FloatVec weight = Set(cross.rows[r].weight * cross.columns[c].weight);
      WHERRY_UNROLL
      for (int v = 0; v < kVectors; ++v) sum[v] = hn::MulAdd(Load(pixel + v * kLanes), weight, sum[v]);
    }
  }
  WHERRY_UNROLL
  for (int v = 0; v < kVectors; ++v) Store(hn::Mul(sum[v], Set(scale)), to + v * kLanes);
}

void Blend(const PixelCross& cross, const float* image, int64_t row_stride, int64_t pixel_stride, int64_t channels,
           float scale, float* to) {
  // Eight sums hide what a multiply-add takes.
  constexpr int kVectors = 8;
  int64_t c = 0;
  for (; c + kVectors * kLanes <= channels; c += kVectors * kLanes) {
    BlendVectors<kVectors>(cross, image + c, row_stride, pixel_stride, scale, to + c);
  }
  for (; c + kLanes <= channels; c += kLanes) {
    BlendVectors<1>(cross, image + c, row_stride, pixel_stride, scale, to + c);
  }
  if (c == channels) return;
  FloatVec sum = Zero();
  for (int64_t r = 0; r < cross.row_count; ++r) {
    for (int64_t x = 0; x < cross.column_count; ++x) {
      const float* const pixel = image + cross.rows[r].index * row_stride + cross.columns[x].index * pixel_stride;
      sum = hn::MulAdd(LoadN(pixel + c, channels - c), Set(cross.rows[r].weight * cross.columns[x].weight), sum);
    }
  }
  StoreN(hn::Mul(sum, Set(scale)), to + c, channels - c);
}

// kVectors vectors of channels, of which the last has `live`.
template <int kVectors>
HWY_INLINE void LargestVectors(const PixelCross& cross, const float* image, int64_t row_stride, int64_t pixel_stride,
                               FloatVec least, int64_t live, float* to) {
  FloatVec largest[kVectors];
  WHERRY_UNROLL
  for (int v = 0; v < kVectors; ++v) largest[v] = least;
  for (int64_t r = 0; r < cross.row_count; ++r) {
    const float* const row = image + cross.rows[r].index * row_stride;
    for (int64_t c = 0; c < cross.column_count; ++c) {
      const float* const pixel = row + cross.columns[c].index * pixel_stride;
      const FloatVec weight = Set(cross.rows[r].weight * cross.columns[c].weight);
      WHERRY_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        const FloatVec here = live == kLanes ? Load(pixel + v * kLanes) : LoadN(pixel + v * kLanes, live);
        largest[v] = MaxNan(largest[v], hn::Mul(here, weight));
      }
    }
  }
  WHERRY_UNROLL
  for (int v = 0; v < kVectors; ++v) StoreN(largest[v], to + v * kLanes, live);
}

void Largest(const PixelCross& cross, const float* image, int64_t row_stride, int64_t pixel_stride, int64_t channels,
             bool with_zero, float* to) {
  const FloatVec least = with_zero ? Zero() : Set(MaxOp::kIdentity);
  constexpr int kVectors = 4;
  int64_t c = 0;
  for (; c + kVectors * kLanes <= channels; c += kVectors * kLanes) {
    LargestVectors<kVectors>(cross, image + c, row_stride, pixel_stride, least, kLanes, to + c);
  }
  for (; c < channels; c += kLanes) {
    const int64_t live = channels - c < kLanes ? channels - c : kLanes;
    LargestVectors<1>(cross, image + c, row_stride, pixel_stride, least, live, to + c);
  }
}

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {

void BlendPixels(const PixelCross& cross, const float* image, int64_t row_stride, int64_t pixel_stride,
                 int64_t channels, float scale, float* to) {
  WHERRY_ISA_CALL(Blend)(cross, image, row_stride, pixel_stride, channels, scale, to);
}

void LargestPixels(const PixelCross& cross, const float* image, int64_t row_stride, int64_t pixel_stride,
                   int64_t channels, bool with_zero, float* to) {
  WHERRY_ISA_CALL(Largest)(cross, image, row_stride, pixel_stride, channels, with_zero, to);
}

}  // namespace wherry::cpu
#endif  // HWY_ONCE
