// Arithmetic of two tensors with broadcasting, in any layout: f32, i32 and i64.
#include <type_traits>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/tensor_loops.h"

namespace wherry::cpu {
namespace {

void RunFloat(const CpuContext& context, const DenseTensor& x, const DenseTensor& y, DenseTensor* out,
              ElementwiseOp op) {
  const TensorMeta metas[] = {x.meta(), y.meta()};
  const float* const inputs[] = {x.data<float>(), y.data<float>()};
  RunElementwise(CompiledElementwise(op), LoopsOver(out->meta(), metas), inputs, out->mutable_data<float>(),
                 context.pool());
}

void RunInteger(const CpuContext& context, const DenseTensor& x, const DenseTensor& y, DenseTensor* out, TypedOp op) {
  const DenseTensor* const inputs[] = {&x, &y};
  RunTyped(TypedTileOf(op, x.dtype()), inputs, out, context.pool());
}

#define WHERRY_CPU_BINARY(name, op)                                                                    \
  template <typename T>                                                                                \
  void name(const CpuContext& context, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) { \
    if constexpr (std::is_integral_v<T>) {                                                             \
      RunInteger(context, x, y, out, TypedOp::op);                                                     \
    } else {                                                                                           \
      RunFloat(context, x, y, out, ElementwiseOp::op);                                                 \
    }                                                                                                  \
  }
WHERRY_CPU_BINARY(Add, kAdd)
WHERRY_CPU_BINARY(Subtract, kSub)
WHERRY_CPU_BINARY(Multiply, kMul)
WHERRY_CPU_BINARY(Maximum, kMax)
WHERRY_CPU_BINARY(Minimum, kMin)
#undef WHERRY_CPU_BINARY

#define WHERRY_CPU_FLOAT_BINARY(name, op)                                                              \
  template <typename T>                                                                                \
  void name(const CpuContext& context, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) { \
    RunFloat(context, x, y, out, ElementwiseOp::op);                                                   \
  }
WHERRY_CPU_FLOAT_BINARY(Divide, kDiv)
WHERRY_CPU_FLOAT_BINARY(Power, kPow)
WHERRY_CPU_FLOAT_BINARY(Fmod, kFmod)
WHERRY_CPU_FLOAT_BINARY(Remainder, kRemainder)
#undef WHERRY_CPU_FLOAT_BINARY

}  // namespace

REGISTER_KERNEL(add, cpu, kNative, kAny, Add, float, int32_t, int64_t).PixelStrides();
REGISTER_KERNEL(subtract, cpu, kNative, kAny, Subtract, float, int32_t, int64_t).PixelStrides();
REGISTER_KERNEL(multiply, cpu, kNative, kAny, Multiply, float, int32_t, int64_t).PixelStrides();
REGISTER_KERNEL(divide, cpu, kNative, kAny, Divide, float).PixelStrides();
REGISTER_KERNEL(maximum, cpu, kNative, kAny, Maximum, float, int32_t, int64_t).PixelStrides();
REGISTER_KERNEL(minimum, cpu, kNative, kAny, Minimum, float, int32_t, int64_t).PixelStrides();
REGISTER_KERNEL(elementwise_pow, cpu, kNative, kAny, Power, float).PixelStrides();
REGISTER_KERNEL(fmod, cpu, kNative, kAny, Fmod, float).PixelStrides();
REGISTER_KERNEL(remainder, cpu, kNative, kAny, Remainder, float).PixelStrides();

}  // namespace wherry::cpu
