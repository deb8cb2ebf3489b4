#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/floats.h"
#include "kernels/ref/strided.h"

namespace wherry::ref {
namespace {

enum class Padding { kZeros, kBorder, kReflection };

// One axis of the image.
struct Axis {
  int64_t extent;
  int64_t stride;
  double low;  // the borders that reflect
  double high;
};

// From [-1, 1] to elements.
double Denormalize(double x, const Axis& axis, bool align_corners) {
  const auto extent = static_cast<double>(axis.extent);
  return align_corners ? (x + 1.0) / 2.0 * (extent - 1.0) : ((x + 1.0) * extent - 1.0) / 2.0;
}

double Reflect(double x, const Axis& axis) {
  const double range = axis.high - axis.low;
  if (range <= 0.0) return axis.low;
  double at = std::fmod(std::abs(x - axis.low), 2.0 * range);
  if (at > range) at = 2.0 * range - at;
  return axis.low + at;
}

// Brings a coordinate to where elements are; finite, and with zeros at most a few elements outside.
double Bound(double x, const Axis& axis, Padding padding) {
  const double last = static_cast<double>(axis.extent - 1);
  if (padding == Padding::kZeros) return x > -8.0 ? std::min(x, last + 8.0) : -8.0;  // NaN too
  if (std::isnan(x)) return 0.0;
  if (padding == Padding::kBorder || std::isinf(x)) return std::clamp(x, 0.0, last);
  return x < axis.low || x > axis.high ? Reflect(x, axis) : x;
}

// The element that stands at position i; -1: none.
int64_t ElementAt(int64_t i, const Axis& axis, Padding padding) {
  if (i >= 0 && i < axis.extent) return i;
  if (padding == Padding::kZeros) return -1;
  if (padding == Padding::kReflection) i = static_cast<int64_t>(Reflect(static_cast<double>(i), axis));
  return std::clamp<int64_t>(i, 0, axis.extent - 1);
}

// What an output takes along one axis.
struct Taps {
  int count;
  std::array<int64_t, 4> element;  // -1: nothing
  std::array<double, 4> weight;
};

Taps TapsAt(double x, const Axis& axis, const std::string& mode, Padding padding) {
  if (mode == "nearest") {
    const auto at = static_cast<int64_t>(Bound(std::nearbyint(x), axis, padding));
    return {1, {ElementAt(at, axis, padding)}, {1.0}};
  }
  // Beyond the border, a cubic still blends the last elements with the border's, as in PyTorch and ONNX Runtime.
  x = Bound(x, axis, mode == "cubic" && padding == Padding::kBorder ? Padding::kZeros : padding);
  const double floor = std::floor(x);
  const double t = x - floor;
  Taps taps{2, {}, {1.0 - t, t}};
  int64_t first = static_cast<int64_t>(floor);
  if (mode == "cubic") {
    constexpr double kA = -0.75;
    const auto outer = [](double d) { return ((kA * d - 5.0 * kA) * d + 8.0 * kA) * d - 4.0 * kA; };
    const auto inner = [](double d) { return ((kA + 2.0) * d - (kA + 3.0)) * d * d + 1.0; };
    taps = {4, {}, {outer(1.0 + t), inner(t), inner(1.0 - t), outer(2.0 - t)}};
    --first;
  }
  for (int i = 0; i < taps.count; ++i) taps.element[static_cast<size_t>(i)] = ElementAt(first + i, axis, padding);
  return taps;
}

template <typename T>
double Blend(const T* image, const std::vector<Axis>& axes, const std::vector<Taps>& taps, size_t depth) {
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
  const Padding padding = padding_mode == "zeros"    ? Padding::kZeros
                          : padding_mode == "border" ? Padding::kBorder
                                                     : Padding::kReflection;
  const Strides strides = RowMajorStrides(x.shape());
  std::vector<Axis> axes;
  for (int a = 2; a < x.shape().rank(); ++a) {
    const int64_t extent = x.shape()[a];
    WHERRY_ENFORCE(extent > 0, kInvalidArgument, "x ", x.shape().DebugString(), " has no elements to sample");
    const double half = align_corners ? 0.0 : 0.5;
    axes.push_back({extent, strides[static_cast<size_t>(a)], -half, static_cast<double>(extent - 1) + half});
  }
  const std::vector<double> places = FloatsOf(grid);
  const int64_t batch = x.shape()[0];
  const int64_t channels = x.shape()[1];
  const int64_t count = out->numel() / (batch * channels);
  std::vector<Taps> taps(axes.size());
  for (int64_t n = 0; n < batch; ++n) {
    const T* image = x.data<T>() + n * channels * strides[1];
    for (int64_t i = 0; i < count; ++i) {
      const double* place = places.data() + static_cast<size_t>(n * count + i) * axes.size();
      for (size_t a = 0; a < axes.size(); ++a) {
        const double at = Denormalize(place[axes.size() - 1 - a], axes[a], align_corners);
        taps[a] = TapsAt(at, axes[a], mode, padding);
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
