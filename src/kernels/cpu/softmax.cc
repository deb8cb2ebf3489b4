// softmax and log_softmax of f32 tensors.
#include "kernels/cpu/vector/softmax.h"

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"

namespace wherry::cpu {
namespace {

using SoftmaxFn = void (*)(const float*, float*, int64_t, int64_t, int64_t, ThreadPool*);

void Run(SoftmaxFn softmax, const CpuContext& context, const DenseTensor& x, int axis, DenseTensor* out) {
  const Shape& shape = x.shape();
  const int rank = shape.rank();
  const int at = rank == 0 ? 0 : axis < 0 ? axis + rank : axis;
  const int64_t length = rank == 0 ? 1 : shape[at];
  const int64_t inner = rank == 0 ? 1 : shape.numel(at + 1, rank);
  softmax(x.data<float>(), out->mutable_data<float>(), shape.numel(0, at), length, inner, context.pool());
}

template <typename T>
void SoftmaxKernel(const CpuContext& context, const DenseTensor& x, int axis, DenseTensor* out) {
  Run(&Softmax, context, x, axis, out);
}

template <typename T>
void LogSoftmaxKernel(const CpuContext& context, const DenseTensor& x, int axis, DenseTensor* out) {
  Run(&LogSoftmax, context, x, axis, out);
}

}  // namespace

REGISTER_KERNEL(softmax, cpu, kNative, kNCHW, SoftmaxKernel, float);
REGISTER_KERNEL(log_softmax, cpu, kNative, kNCHW, LogSoftmaxKernel, float);

}  // namespace wherry::cpu
