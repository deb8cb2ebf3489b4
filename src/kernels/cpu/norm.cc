// layer_norm, rms_norm, group_norm and instance_norm of plain f32 tensors.
#include "kernels/cpu/vector/norm.h"

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"

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

}  // namespace

REGISTER_KERNEL(layer_norm, cpu, kNative, kNCHW, LayerNormKernel, float);
REGISTER_KERNEL(rms_norm, cpu, kNative, kNCHW, RmsNormKernel, float);
REGISTER_KERNEL(group_norm, cpu, kNative, kNCHW, GroupNormKernel, float);
REGISTER_KERNEL(instance_norm, cpu, kNative, kNCHW, InstanceNormKernel, float);

}  // namespace wherry::cpu
