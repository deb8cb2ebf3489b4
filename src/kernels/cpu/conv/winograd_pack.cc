#include <algorithm>
#include <cmath>

#include "base/thread_pool.h"
#include "kernels/cpu/conv/panel.h"
#include "kernels/cpu/conv/winograd.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/conv/winograd_pack.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

// In double: the rounding of a transformed kernel would add to that of every product with it.
using DoubleTag = hn::ScalableTag<double>;
using DoubleVec = hn::Vec<DoubleTag>;

// The polynomial g at 0, at kPairs pairs of points that differ in sign, and at infinity.
template <int kPairs>
HWY_INLINE void AtPoints(const DoubleVec (&pairs)[kPairs][3], const DoubleVec (&g)[3],
                         DoubleVec (&values)[2 * kPairs + 2]) {
  values[0] = g[0];
  WHERRY_UNROLL
  for (int p = 0; p < kPairs; ++p) {
    const DoubleVec even = hn::MulAdd(pairs[p][2], g[2], hn::Mul(pairs[p][0], g[0]));
    const DoubleVec odd = hn::Mul(pairs[p][1], g[1]);
    values[2 * p + 1] = hn::Add(even, odd);
    values[2 * p + 2] = hn::Sub(even, odd);
  }
  values[2 * kPairs + 1] = g[2];
}

template <int kPairs>
void TransformBy(const double (*factors)[3], const float* kernels, int64_t width, float* to, int64_t stride) {
  constexpr int kPoints = 2 * kPairs + 2;
  const DoubleTag d;
  const hn::Rebind<float, DoubleTag> half;
  DoubleVec pairs[kPairs][3];
  for (int p = 0; p < kPairs; ++p) {
    for (int i = 0; i < 3; ++i) pairs[p][i] = hn::Set(d, factors[p][i]);
  }
  for (int64_t k = 0; k < width; k += static_cast<int64_t>(hn::Lanes(d))) {
    DoubleVec rows[kPoints][3];
    WHERRY_UNROLL
    for (int j = 0; j < 3; ++j) {
      DoubleVec g[3];
      for (int i = 0; i < 3; ++i) g[i] = hn::PromoteTo(d, hn::LoadU(half, kernels + (3 * i + j) * kPanelWidth + k));
      DoubleVec column[kPoints];
      AtPoints<kPairs>(pairs, g, column);
      WHERRY_UNROLL
      for (int i = 0; i < kPoints; ++i) rows[i][j] = column[i];
    }
    float* out = to + k;
    WHERRY_UNROLL
    for (int i = 0; i < kPoints; ++i) {
      DoubleVec values[kPoints];
      AtPoints<kPairs>(pairs, rows[i], values);
      WHERRY_UNROLL
      for (int j = 0; j < kPoints; ++j, out += stride) hn::StoreU(hn::DemoteTo(half, values[j]), half, out);
    }
  }
}

// The transformed 3x3 kernels of one input channel by a transform with so many pairs of points:
// kernels[tap * kPanelWidth + k] to to[point * stride + k], for the first `width` k, a multiple of 16.
void TransformKernels(const double (*factors)[3], int pairs, const float* kernels, int64_t width, float* to,
                      int64_t stride) {
  return pairs == 1 ? TransformBy<1>(factors, kernels, width, to, stride)
                    : TransformBy<2>(factors, kernels, width, to, stride);
}

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {
namespace {

// The points are 0, pairs that differ in sign, and infinity. Row p has the coefficients of the kernel polynomial at the
// first of pair p, over the product of the differences to the other points; those at the second differ in the middle's
// sign, and at 0 and infinity the value is a coefficient itself.
struct KernelTransform {
  int pairs;
  double factors[2][3];
  int points() const { return 2 * pairs + 2; }
};

KernelTransform KernelTransformOf(WinogradSize size) {
  if (size == WinogradSize::kF2) return {1, {{0.5, 0.5, 0.5}}};
  return {2, {{-1 / 1.5, -std::sqrt(0.5) / 1.5, -0.5 / 1.5}, {1 / 6.0, std::sqrt(2.0) / 6, 2 / 6.0}}};
}

}  // namespace

int64_t WinogradPackedSize(const ConvWeightShape& shape, WinogradSize size) {
  const int64_t side = static_cast<int64_t>(size) + 2;
  return side * side * shape.in_channels_per_group * PaddedColumns(shape.out_channels);
}

void PackWinograd(const ConvWeightShape& shape, WinogradSize size, const float* weight, float* packed, ThreadPool* pool,
                  PanelLayout layout) {
  const auto transform_kernels = WHERRY_ISA_CALL(TransformKernels);
  const KernelTransform transform = KernelTransformOf(size);
  const int64_t points = transform.points() * transform.points();
  const int64_t channels = shape.in_channels_per_group;
  ParallelFor(pool, PanelCount(shape.out_channels), 1, [&](int64_t begin, int64_t end) {
    for (int64_t panel = begin; panel < end; ++panel) {
      const int64_t width = PanelWidth(shape.out_channels, panel);
      const int64_t first = panel * kPanelWidth;
      const int64_t used = std::min(kPanelWidth, shape.out_channels - first);
      const int64_t point_stride = channels * width;
      float* const to = packed + points * channels * first;
      HWY_ALIGN float kernels[9 * kPanelWidth] = {};  // zeros behind the last channel
      for (int64_t c = 0; c < channels; ++c) {
        for (int64_t k = 0; k < used; ++k) {
          const float* const kernel = weight + ((first + k) * channels + c) * 9;
          for (int64_t tap = 0; tap < 9; ++tap) kernels[tap * kPanelWidth + k] = kernel[tap];
        }
        // Columns that lie side by side are transformed together.
        const int64_t row = PanelRow(layout, width);
        for (int64_t k = 0; k < width; k += row) {
          transform_kernels(transform.factors, transform.pairs, kernels + k, row,
                            to + PanelColumn(layout, channels, k) + c * row, point_stride);
        }
      }
    }
  });
}

}  // namespace wherry::cpu
#endif  // HWY_ONCE
