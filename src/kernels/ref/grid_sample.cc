#include <string>
#include <vector>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/floats.h"
#include "kernels/ref/strided.h"
#include "op/infer/grid_taps.h"

namespace wherry::ref {
namespace {

// One axis of the image.
struct Axis {
  int64_t extent;
  int64_t stride;
};

template <typename T>
double Blend(const T* image, const std::vector<Axis>& axes, const std::vector<GridTaps>& taps, size_t depth) {
  if (depth == axes.size()) return static_cast<double>(Load(*image));
  double sum = 0.0;
  for (size_t i = 0; i < static_cast<size_t>(taps[depth].count); ++i) {
    const int64_t element = taps[depth].element[i];
    if (element < 0) continue;
    sum += taps[depth].weight[i] * Blend(image + element * axes[depth].stride, axes, taps, depth + 1);
  }
  return sum;
}

template <typename T>
void GridSample(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& grid, const std::string& mode,
                const std::string& padding_mode, bool align_corners, DenseTensor* out) {
  if (out->numel() == 0) return;
  const GridRule rule = ParseGridRule(mode, padding_mode, align_corners);
  const Strides strides = RowMajorStrides(x.shape());
  std::vector<Axis> axes;
  for (int a = 2; a < x.shape().rank(); ++a) {
    const int64_t extent = x.shape()[a];
    WHERRY_ENFORCE(extent > 0, kInvalidArgument, "x ", x.shape().DebugString(), " has no elements to sample");
    axes.push_back({extent, strides[static_cast<size_t>(a)]});
  }
  const std::vector<double> places = FloatsOf(grid);
  const int64_t batch = x.shape()[0];
  const int64_t channels = x.shape()[1];
  const int64_t count = out->numel() / (batch * channels);
  std::vector<GridTaps> taps(axes.size());
  for (int64_t n = 0; n < batch; ++n) {
    const T* image = x.data<T>() + n * channels * strides[1];
    for (int64_t i = 0; i < count; ++i) {
      const double* place = places.data() + static_cast<size_t>(n * count + i) * axes.size();
      for (size_t a = 0; a < axes.size(); ++a) {
        taps[a] = GridTapsAt(rule, place[axes.size() - 1 - a], axes[a].extent);
      }
      for (int64_t c = 0; c < channels; ++c) {
        T* const to = out->mutable_data<T>() + (n * channels + c) * count + i;
        *to = FromDouble<T>(Blend(image + c * strides[1], axes, taps, 0));
      }
    }
  }
}

template <typename T>
void AffineGrid(const CpuContext& /*context*/, const DenseTensor& theta, const IntArray& /*size*/, bool align_corners,
                DenseTensor* out) {
  const int64_t axes = theta.shape()[1];
  const T* const matrices = theta.data<T>();
  T* to = out->mutable_data<T>();
  Odometer<0> at(out->shape(), {});
  for (int64_t i = 0, count = out->numel(); i < count; ++i, at.Next()) {
    // The row of the coordinate that is written.
    const T* const row = matrices + (at.position(0) * axes + at.position(static_cast<int>(axes) + 1)) * (axes + 1);
    double sum = static_cast<double>(Load(row[axes]));
    for (int64_t k = 0; k < axes; ++k) {
      const int axis = static_cast<int>(axes - k);  // the last axis first
      const auto extent = static_cast<double>(out->shape()[axis]);
      const auto position = static_cast<double>(at.position(axis));
      const double x = !align_corners ? (2.0 * position + 1.0) / extent - 1.0
                       : extent > 1.0 ? 2.0 * position / (extent - 1.0) - 1.0
                                      : 0.0;
      sum += static_cast<double>(Load(row[k])) * x;
    }
    to[i] = Store<T>(sum);
  }
}

}  // namespace

REGISTER_KERNEL(grid_sample, ref, kHost, kNCHW, GridSample, WHERRY_REF_ALL);
REGISTER_KERNEL(affine_grid, ref, kHost, kNCHW, AffineGrid, WHERRY_REF_FLOATS);

}  // namespace wherry::ref
