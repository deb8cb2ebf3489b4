// Arithmetic of two f32 tensors with broadcasting, in any layout.
#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/tensor_loops.h"

namespace wherry::cpu {
namespace {

void RunBinary(const CpuContext& context, const DenseTensor& x, const DenseTensor& y, DenseTensor* out,
               ElementwiseOp op) {
  const TensorMeta metas[] = {x.meta(), y.meta()};
  const float* const inputs[] = {x.data<float>(), y.data<float>()};
  RunElementwise(CompiledElementwise(op), LoopsOver(out->meta(), metas), inputs, out->mutable_data<float>(),
                 context.pool());
}

#define WHERRY_CPU_BINARY(name, op)                                                                    \
  template <typename T>                                                                                \
  void name(const CpuContext& context, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) { \
    RunBinary(context, x, y, out, ElementwiseOp::op);                                                  \
  }
WHERRY_CPU_BINARY(Add, kAdd)
WHERRY_CPU_BINARY(Subtract, kSub)
WHERRY_CPU_BINARY(Multiply, kMul)
WHERRY_CPU_BINARY(Divide, kDiv)
WHERRY_CPU_BINARY(Maximum, kMax)
WHERRY_CPU_BINARY(Minimum, kMin)
WHERRY_CPU_BINARY(Power, kPow)
#undef WHERRY_CPU_BINARY

}  // namespace

REGISTER_KERNEL(add, cpu, kNative, kAny, Add, float).PixelStrides();
REGISTER_KERNEL(subtract, cpu, kNative, kAny, Subtract, float).PixelStrides();
REGISTER_KERNEL(multiply, cpu, kNative, kAny, Multiply, float).PixelStrides();
REGISTER_KERNEL(divide, cpu, kNative, kAny, Divide, float).PixelStrides();
REGISTER_KERNEL(maximum, cpu, kNative, kAny, Maximum, float).PixelStrides();
REGISTER_KERNEL(minimum, cpu, kNative, kAny, Minimum, float).PixelStrides();
REGISTER_KERNEL(elementwise_pow, cpu, kNative, kAny, Power, float).PixelStrides();

}  // namespace wherry::cpu
