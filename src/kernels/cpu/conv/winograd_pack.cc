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

constexpr int64_t kMaxPoints = 6;

// In double: the rounding of a transformed kernel would add to that of every product with it.
using DoubleTag = hn::ScalableTag<double>;
using DoubleVec = hn::Vec<DoubleTag>;

HWY_INLINE DoubleVec Dot3(const double (&row)[3], const DoubleVec (&v)[3]) {
  const DoubleTag d;
  const DoubleVec sum = hn::MulAdd(hn::Set(d, row[0]), v[0], hn::Mul(hn::Set(d, row[1]), v[1]));
  return hn::MulAdd(hn::Set(d, row[2]), v[2], sum);
}

// The transformed 3x3 kernels of one input channel by a transform of `points` rows: kernels[tap * kPanelWidth + k] to
// to[point * stride + k], for the first `width` k, a multiple of 16.
void TransformKernels(const double (*rows)[3], int64_t points, const float* kernels, int64_t width, float* to,
                      int64_t stride) {
  const DoubleTag d;
  const hn::Rebind<float, DoubleTag> half;
  for (int64_t k = 0; k < width; k += static_cast<int64_t>(hn::Lanes(d))) {
    DoubleVec columns[kMaxPoints][3];
    for (int j = 0; j < 3; ++j) {
      DoubleVec g[3];
      for (int i = 0; i < 3; ++i) g[i] = hn::PromoteTo(d, hn::LoadU(half, kernels + (3 * i + j) * kPanelWidth + k));
      for (int64_t i = 0; i < points; ++i) columns[i][j] = Dot3(rows[i], g);
    }
    float* out = to + k;
    for (int64_t i = 0; i < points; ++i) {
      for (int64_t j = 0; j < points; ++j, out += stride) {
        hn::StoreU(hn::DemoteTo(half, Dot3(rows[j], columns[i])), half, out);
      }
    }
  }
}

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {
namespace {

// Row p is the kernel polynomial at point p, over the product of the differences to the other points; the last row is
// the point at infinity.
struct KernelTransform {
  int points;
  double rows[6][3];
};

KernelTransform KernelTransformOf(WinogradSize size) {
  if (size == WinogradSize::kF2) return {4, {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}}};
  const double s = std::sqrt(0.5);
  const double t = std::sqrt(2.0);
  return {6,
          {{1, 0, 0},
           {-1 / 1.5, -s / 1.5, -0.5 / 1.5},
           {-1 / 1.5, s / 1.5, -0.5 / 1.5},
           {1 / 6.0, t / 6, 2 / 6.0},
           {1 / 6.0, -t / 6, 2 / 6.0},
           {0, 0, 1}}};
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
  const int64_t points = transform.points * transform.points;
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
          transform_kernels(transform.rows, transform.points, kernels + k, row,
                            to + PanelColumn(layout, channels, k) + c * row, point_stride);
        }
      }
    }
  });
}

}  // namespace wherry::cpu
#endif  // HWY_ONCE
