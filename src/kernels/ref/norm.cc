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

template <typename T>
void LayerNorm(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor* scale, const DenseTensor* bias,
               float epsilon, int begin_norm_axis, DenseTensor* out) {
  if (out->numel() == 0) return;
  const int rank = x.shape().rank();
  const int begin = begin_norm_axis < 0 ? begin_norm_axis + rank : begin_norm_axis;
  const int64_t count = x.shape().numel(begin, rank);
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  for (int64_t row = 0, rows = x.shape().numel(0, begin); row < rows; ++row, from += count, to += count) {
    const Moments moments = MomentsOf(from, count);
    const double factor = 1.0 / std::sqrt(moments.variance + static_cast<double>(epsilon));
    for (int64_t i = 0; i < count; ++i) {
      const double normal = (Load(from[i]) - moments.mean) * factor;
      to[i] = Store<T>(normal * ParameterAt<T>(scale, i, 1.0) + ParameterAt<T>(bias, i, 0.0));
    }
  }
}

template <typename T>
void RmsNorm(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor* scale, const DenseTensor* bias,
             float epsilon, int begin_norm_axis, DenseTensor* out) {
  if (out->numel() == 0) return;
  const int rank = x.shape().rank();
  const int begin = begin_norm_axis < 0 ? begin_norm_axis + rank : begin_norm_axis;
  const int64_t count = x.shape().numel(begin, rank);
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  for (int64_t row = 0, rows = x.shape().numel(0, begin); row < rows; ++row, from += count, to += count) {
    double squares = 0.0;
    for (int64_t i = 0; i < count; ++i) squares += Load(from[i]) * Load(from[i]);
    const double factor = 1.0 / std::sqrt(squares / static_cast<double>(count) + static_cast<double>(epsilon));
    for (int64_t i = 0; i < count; ++i) {
      to[i] = Store<T>(Load(from[i]) * factor * ParameterAt<T>(scale, i, 1.0) + ParameterAt<T>(bias, i, 0.0));
    }
  }
}

template <typename T>
void GroupNorm(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor* scale, const DenseTensor* bias,
               float epsilon, int groups, DenseTensor* out) {
  if (out->numel() == 0) return;
  const int64_t channels = x.shape()[1];
  const int64_t pixels = x.shape().numel(2, x.shape().rank());
  const int64_t group_channels = channels / groups;
  const int64_t count = group_channels * pixels;
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  for (int64_t group = 0, all = x.shape()[0] * groups; group < all; ++group, from += count, to += count) {
    const Moments moments = MomentsOf(from, count);
    const double factor = 1.0 / std::sqrt(moments.variance + static_cast<double>(epsilon));
    for (int64_t i = 0; i < count; ++i) {
      const int64_t c = group % groups * group_channels + i / pixels;
      const double normal = (Load(from[i]) - moments.mean) * factor;
      to[i] = Store<T>(normal * ParameterAt<T>(scale, c, 1.0) + ParameterAt<T>(bias, c, 0.0));
    }
  }
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
