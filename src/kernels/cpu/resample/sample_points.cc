#include "kernels/cpu/resample/sample_points.h"

#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/resample/sample_points.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

// What is at the indices, 0 where there is none.
HWY_INLINE FloatVec Gather(const float* plane, IntVec index) {
  const IntVec none = hn::Zero(IntTag());
  const FloatVec x = hn::GatherIndex(FloatTag(), plane, hn::Max(index, none));
  return hn::IfThenZeroElse(hn::RebindMask(FloatTag(), hn::Lt(index, none)), x);
}

// kTaps 0: any number.
template <int kTaps>
void SamplePlane(const PointTaps& taps, const float* plane, float* to) {
  const int64_t count = kTaps == 0 ? taps.taps : kTaps;
  int64_t p = 0;
  for (; p + kLanes <= taps.points; p += kLanes) {
    FloatVec sum = Zero();
    WHERRY_UNROLL
    for (int64_t t = 0; t < count; ++t) {
      const int64_t at = t * taps.stride + p;
      sum = hn::MulAdd(Gather(plane, hn::LoadU(IntTag(), taps.index + at)), Load(taps.weight + at), sum);
    }
    Store(sum, to + p);
  }
  for (; p < taps.points; ++p) {
    float sum = 0.0f;
    for (int64_t t = 0; t < count; ++t) {
      const int64_t at = t * taps.stride + p;
      if (taps.index[at] >= 0) sum += plane[taps.index[at]] * taps.weight[at];
    }
    to[p] = sum;
  }
}

void SamplePlanes(const PointTaps& taps, const float* planes, int64_t plane_size, int64_t channels, float* to,
                  int64_t to_stride) {
  const auto sample = taps.taps == 1 ? &SamplePlane<1> : taps.taps == 4 ? &SamplePlane<4> : &SamplePlane<0>;
  for (int64_t c = 0; c < channels; ++c) sample(taps, planes + c * plane_size, to + c * to_stride);
}

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {

void SamplePoints(const PointTaps& taps, const float* planes, int64_t plane_size, int64_t channels, float* to,
                  int64_t to_stride) {
  WHERRY_ISA_CALL(SamplePlanes)(taps, planes, plane_size, channels, to, to_stride);
}

}  // namespace wherry::cpu
#endif  // HWY_ONCE
