#include <algorithm>
#include <cmath>

#include "base/thread_pool.h"
#include "kernels/cpu/conv/panel.h"
#include "kernels/cpu/conv/winograd.h"

namespace wherry::cpu {
namespace {

constexpr int kMaxPoints = 6;

// Row p is the kernel polynomial at point p, over the product of the differences to the other points; the last row is
// the point at infinity.
struct KernelTransform {
  int points;
  double rows[kMaxPoints][3];
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

double Dot3(const double (&row)[3], double a, double b, double c) { return row[0] * a + row[1] * b + row[2] * c; }

// to[point * stride] for the 3x3 kernel g.
void TransformKernel(const KernelTransform& transform, const float* g, float* to, int64_t stride) {
  double columns[kMaxPoints][3];
  for (int i = 0; i < transform.points; ++i) {
    for (int j = 0; j < 3; ++j) columns[i][j] = Dot3(transform.rows[i], g[j], g[3 + j], g[6 + j]);
  }
  for (int i = 0; i < transform.points; ++i) {
    for (int j = 0; j < transform.points; ++j) {
      *to = static_cast<float>(Dot3(transform.rows[j], columns[i][0], columns[i][1], columns[i][2]));
      to += stride;
    }
  }
}

}  // namespace

int64_t WinogradPackedSize(const ConvWeightShape& shape, WinogradSize size) {
  const int64_t side = static_cast<int64_t>(size) + 2;
  return side * side * shape.in_channels_per_group * PaddedColumns(shape.out_channels);
}

void PackWinograd(const ConvWeightShape& shape, WinogradSize size, const float* weight, float* packed,
                  ThreadPool* pool) {
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
      for (int64_t c = 0; c < channels; ++c) {
        for (int64_t k = 0; k < used; ++k) {
          TransformKernel(transform, weight + ((first + k) * channels + c) * 9, to + c * width + k, point_stride);
        }
        for (int64_t p = 0; p < points; ++p) {
          float* const row = to + p * point_stride + c * width;
          std::fill(row + used, row + width, 0.0f);
        }
      }
    }
  });
}

}  // namespace wherry::cpu
