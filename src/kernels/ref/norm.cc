// Normalisations: two passes (mean, then deviations from it) in double.
#include <cmath>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"

namespace wherry::ref {
namespace {

struct Moments {
  double mean = 0.0;
  double variance = 0.0;
};

template <typename T>
Moments MomentsOf(const T* x, int64_t count) {
  Moments moments;
  for (int64_t i = 0; i < count; ++i) moments.mean += Load(x[i]);
  moments.mean /= static_cast<double>(count);
  for (int64_t i = 0; i < count; ++i) {
    const double deviation = Load(x[i]) - moments.mean;
    moments.variance += deviation * deviation;
  }
  moments.variance /= static_cast<double>(count);
  return moments;
}

// Element i of an optional parameter.
template <typename T>
double ParameterAt(const DenseTensor* parameter, int64_t i, double absent) {
  return parameter == nullptr ? absent : Load(parameter->data<T>()[i]);
}

template <typename T>
void BatchNorm(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& mean,
               const DenseTensor& variance, const DenseTensor* scale, const DenseTensor* bias, float epsilon,
               DenseTensor* out) {
  if (out->numel() == 0) return;
  const int64_t channels = x.shape()[1];
  const int64_t pixels = x.shape().numel(2, x.shape().rank());
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  for (int64_t plane = 0, count = x.shape()[0] * channels; plane < count; ++plane) {
    const int64_t c = plane % channels;
    const double center = ParameterAt<T>(&mean, c, 0.0);
    const double factor =
        ParameterAt<T>(scale, c, 1.0) / std::sqrt(ParameterAt<T>(&variance, c, 1.0) + static_cast<double>(epsilon));
    const double shift = ParameterAt<T>(bias, c, 0.0);
    for (int64_t i = plane * pixels; i < (plane + 1) * pixels; ++i)
      to[i] = Store<T>((Load(from[i]) - center) * factor + shift);
  }
}

// (x - mean) / sqrt(variance + epsilon) * scale + bias in each of `rows` equal parts of x. `measure` gives a part's
// moments, `parameter` the index of scale and bias for a part and an element of it.
template <typename T, typename Measure, typename Parameter>
void NormalizeRows(const DenseTensor& x, int64_t rows, const DenseTensor* scale, const DenseTensor* bias, float epsilon,
                   const Measure& measure, const Parameter& parameter, DenseTensor* out) {
  const int64_t count = x.numel() / rows;
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  for (int64_t row = 0; row < rows; ++row, from += count, to += count) {
    const Moments moments = measure(from, count);
    const double factor = 1.0 / std::sqrt(moments.variance + static_cast<double>(epsilon));
    for (int64_t i = 0; i < count; ++i) {
      const int64_t p = parameter(row, i);
      const double normal = (Load(from[i]) - moments.mean) * factor;
      to[i] = Store<T>(normal * ParameterAt<T>(scale, p, 1.0) + ParameterAt<T>(bias, p, 0.0));
    }
  }
}

// The rows in front of the axis that the parameters begin at.
int64_t RowsBefore(const Shape& shape, int axis) { return shape.numel(0, axis < 0 ? axis + shape.rank() : axis); }

int64_t ElementOfRow(int64_t /*row*/, int64_t i) { return i; }

template <typename T>
void LayerNorm(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor* scale, const DenseTensor* bias,
               float epsilon, int begin_norm_axis, DenseTensor* out) {
  if (out->numel() == 0) return;
  NormalizeRows<T>(x, RowsBefore(x.shape(), begin_norm_axis), scale, bias, epsilon, &MomentsOf<T>, &ElementOfRow, out);
}

template <typename T>
void RmsNorm(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor* scale, const DenseTensor* bias,
             float epsilon, int begin_norm_axis, DenseTensor* out) {
  if (out->numel() == 0) return;
  const auto around_zero = [](const T* row, int64_t count) {
    double squares = 0.0;
    for (int64_t i = 0; i < count; ++i) squares += Load(row[i]) * Load(row[i]);
    return Moments{0.0, squares / static_cast<double>(count)};
  };
  NormalizeRows<T>(x, RowsBefore(x.shape(), begin_norm_axis), scale, bias, epsilon, around_zero, &ElementOfRow, out);
}

template <typename T>
void GroupNorm(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor* scale, const DenseTensor* bias,
               float epsilon, int groups, DenseTensor* out) {
  if (out->numel() == 0) return;
  const int64_t pixels = x.shape().numel(2, x.shape().rank());
  const int64_t group_channels = x.shape()[1] / groups;
  const auto channel = [=](int64_t row, int64_t i) { return row % groups * group_channels + i / pixels; };
  NormalizeRows<T>(x, x.shape()[0] * groups, scale, bias, epsilon, &MomentsOf<T>, channel, out);
}

template <typename T>
void InstanceNorm(const CpuContext& context, const DenseTensor& x, const DenseTensor* scale, const DenseTensor* bias,
                  float epsilon, DenseTensor* out) {
  if (out->numel() == 0) return;
  GroupNorm<T>(context, x, scale, bias, epsilon, static_cast<int>(x.shape()[1]), out);
}

}  // namespace

REGISTER_KERNEL(batch_norm, ref, kHost, kNCHW, BatchNorm, WHERRY_REF_FLOATS);
REGISTER_KERNEL(layer_norm, ref, kHost, kNCHW, LayerNorm, WHERRY_REF_FLOATS);
REGISTER_KERNEL(rms_norm, ref, kHost, kNCHW, RmsNorm, WHERRY_REF_FLOATS);
REGISTER_KERNEL(group_norm, ref, kHost, kNCHW, GroupNorm, WHERRY_REF_FLOATS);
REGISTER_KERNEL(instance_norm, ref, kHost, kNCHW, InstanceNorm, WHERRY_REF_FLOATS);

}  // namespace wherry::ref
