// layer_norm, rms_norm, group_norm and instance_norm of plain f32 tensors; group_norm and instance_norm of images with
// channels last too.
#include "kernels/cpu/vector/norm.h"

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/vector/norm_pixels.h"

namespace wherry::cpu {
namespace {

const float* DataOrNull(const DenseTensor* tensor) { return tensor == nullptr ? nullptr : tensor->data<float>(); }

NormRows MakeRows(const DenseTensor& x, const DenseTensor* scale, const DenseTensor* bias, float epsilon,
                  DenseTensor* out) {
  NormRows norm;
  norm.x = x.data<float>();
  norm.y = out->mutable_data<float>();
  norm.epsilon = epsilon;
  norm.gain = DataOrNull(scale);
  norm.bias = DataOrNull(bias);
  return norm;
}

NormRows MakeTrailingRows(const DenseTensor& x, const DenseTensor* scale, const DenseTensor* bias, float epsilon,
                          int begin_norm_axis, DenseTensor* out) {
  NormRows norm = MakeRows(x, scale, bias, epsilon, out);
  const int rank = x.shape().rank();
  const int begin = begin_norm_axis < 0 ? begin_norm_axis + rank : begin_norm_axis;
  norm.rows = x.shape().numel(0, begin);
  norm.cols = x.shape().numel(begin, rank);
  return norm;
}

template <typename T>
void LayerNormKernel(const CpuContext& context, const DenseTensor& x, const DenseTensor* scale, const DenseTensor* bias,
                     float epsilon, int begin_norm_axis, DenseTensor* out) {
  LayerNorm(MakeTrailingRows(x, scale, bias, epsilon, begin_norm_axis, out), context.pool());
}

template <typename T>
void RmsNormKernel(const CpuContext& context, const DenseTensor& x, const DenseTensor* scale, const DenseTensor* bias,
                   float epsilon, int begin_norm_axis, DenseTensor* out) {
  RmsNorm(MakeTrailingRows(x, scale, bias, epsilon, begin_norm_axis, out), context.pool());
}

template <typename T>
void GroupNormKernel(const CpuContext& context, const DenseTensor& x, const DenseTensor* scale, const DenseTensor* bias,
                     float epsilon, int groups, DenseTensor* out) {
  if (x.numel() == 0) return;
  const Shape& shape = x.shape();
  NormRows norm = MakeRows(x, scale, bias, epsilon, out);
  norm.rows = shape[0] * groups;
  norm.cols = x.numel() / norm.rows;
  norm.affine_run = shape.numel(2, shape.rank());
  norm.affine_count = shape[1];
  LayerNorm(norm, context.pool());
}

template <typename T>
void InstanceNormKernel(const CpuContext& context, const DenseTensor& x, const DenseTensor* scale,
                        const DenseTensor* bias, float epsilon, DenseTensor* out) {
  GroupNormKernel<T>(context, x, scale, bias, epsilon, static_cast<int>(x.shape()[1]), out);
}

template <typename T>
void GroupNormPixels(const CpuContext& context, const DenseTensor& x, const DenseTensor* scale, const DenseTensor* bias,
                     float epsilon, int groups, DenseTensor* out) {
  if (x.numel() == 0) return;
  const Shape& shape = x.shape();
  NormPixels norm;
  norm.pixels = shape.numel(2, shape.rank());
  norm.channels = shape[1];
  norm.groups = groups;
  norm.x_stride = x.meta().effective_pixel_stride();
  norm.y_stride = out->meta().effective_pixel_stride();
  norm.epsilon = epsilon;
  norm.gain = DataOrNull(scale);
  norm.bias = DataOrNull(bias);
  float* const scratch =
      static_cast<float*>(context.Scratch(static_cast<size_t>(NormPixelsScratch(norm.channels)) * sizeof(float)));
  for (int64_t image = 0; image < shape[0]; ++image) {
    norm.x = x.data<float>() + image * norm.pixels * norm.x_stride;
    norm.y = out->mutable_data<float>() + image * norm.pixels * norm.y_stride;
    NormalizePixels(norm, scratch, context.pool());
  }
}

template <typename T>
void InstanceNormPixels(const CpuContext& context, const DenseTensor& x, const DenseTensor* scale,
                        const DenseTensor* bias, float epsilon, DenseTensor* out) {
  GroupNormPixels<T>(context, x, scale, bias, epsilon, static_cast<int>(x.shape()[1]), out);
}

}  // namespace

REGISTER_KERNEL(layer_norm, cpu, kNative, kNCHW, LayerNormKernel, float);
REGISTER_KERNEL(rms_norm, cpu, kNative, kNCHW, RmsNormKernel, float);
REGISTER_KERNEL(group_norm, cpu, kNative, kNCHW, GroupNormKernel, float);
REGISTER_KERNEL(instance_norm, cpu, kNative, kNCHW, InstanceNormKernel, float);
REGISTER_KERNEL(group_norm, cpu, kNative, kNHWC, GroupNormPixels, float).PixelStrides();
REGISTER_KERNEL(instance_norm, cpu, kNative, kNHWC, InstanceNormPixels, float).PixelStrides();

}  // namespace wherry::cpu
