// Arithmetic of two tensors with broadcasting, in any layout: f32, i32 and i64.
#include <type_traits>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/tensor_loops.h"
#include "kernels/cpu/vector/integer_division.h"

namespace wherry::cpu {
namespace {

void RunFloat(const CpuContext& context, const DenseTensor& x, const DenseTensor& y, DenseTensor* out,
              ElementwiseOp op) {
  const TensorMeta metas[] = {x.meta(), y.meta()};
  const float* const inputs[] = {x.data<float>(), y.data<float>()};
  RunElementwise(CompiledElementwise(op), LoopsOver(out->meta(), metas), inputs, out->mutable_data<float>(),
                 context.pool());
}

void RunInteger(const CpuContext& context, const DenseTensor& x, const DenseTensor& y, DenseTensor* out,
                TypedTile tile) {
  const DenseTensor* const inputs[] = {&x, &y};
  RunTyped(tile, inputs, out, context.pool());
}

#define WHERRY_CPU_BINARY(name, op)                                                                    \
  template <typename T>                                                                                \
  void name(const CpuContext& context, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) { \
    if constexpr (std::is_integral_v<T>) {                                                             \
      RunInteger(context, x, y, out, TypedTileOf(TypedOp::op, x.dtype()));                             \
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

template <typename T>
void Power(const CpuContext& context, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  RunFloat(context, x, y, out, ElementwiseOp::kPow);
}

template <typename T>
void FloorDivide(const CpuContext& context, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  RunInteger(context, x, y, out, DivisionTileOf(DivisionOp::kFloorQuotient, x.dtype()));
}

#define WHERRY_CPU_DIVISION(name, op, float_op)                                                        \
  template <typename T>                                                                                \
  void name(const CpuContext& context, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) { \
    if constexpr (std::is_integral_v<T>) {                                                             \
      RunInteger(context, x, y, out, DivisionTileOf(DivisionOp::op, x.dtype()));                       \
    } else {                                                                                           \
      RunFloat(context, x, y, out, ElementwiseOp::float_op);                                           \
    }                                                                                                  \
  }
WHERRY_CPU_DIVISION(Divide, kQuotient, kDiv)
WHERRY_CPU_DIVISION(Fmod, kRemainder, kFmod)
WHERRY_CPU_DIVISION(Remainder, kFloorRemainder, kRemainder)
#undef WHERRY_CPU_DIVISION

}  // namespace

REGISTER_KERNEL(add, cpu, kNative, kAny, Add, float, int32_t, int64_t).PixelStrides();
REGISTER_KERNEL(subtract, cpu, kNative, kAny, Subtract, float, int32_t, int64_t).PixelStrides();
REGISTER_KERNEL(multiply, cpu, kNative, kAny, Multiply, float, int32_t, int64_t).PixelStrides();
REGISTER_KERNEL(divide, cpu, kNative, kAny, Divide, float, int32_t, int64_t).PixelStrides();
REGISTER_KERNEL(floor_divide, cpu, kNative, kAny, FloorDivide, int32_t, int64_t).PixelStrides();
REGISTER_KERNEL(maximum, cpu, kNative, kAny, Maximum, float, int32_t, int64_t).PixelStrides();
REGISTER_KERNEL(minimum, cpu, kNative, kAny, Minimum, float, int32_t, int64_t).PixelStrides();
REGISTER_KERNEL(elementwise_pow, cpu, kNative, kAny, Power, float).PixelStrides();
REGISTER_KERNEL(fmod, cpu, kNative, kAny, Fmod, float, int32_t, int64_t).PixelStrides();
REGISTER_KERNEL(remainder, cpu, kNative, kAny, Remainder, float, int32_t, int64_t).PixelStrides();

}  // namespace wherry::cpu
