// Elementwise functions of one tensor, in any layout: of f32, and some of integers.
#include <string>
#include <type_traits>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/tensor_loops.h"

namespace wherry::cpu {
namespace {

void RunUnary(const CpuContext& context, const DenseTensor& x, DenseTensor* out, ElementwiseOp op, float a = 0.0F,
              float b = 0.0F) {
  const BroadcastLoops loops = LoopsOver(out->meta(), {&x.meta(), 1});
  const float* const input = x.data<float>();
  RunElementwise(CompiledElementwise(op, a, b), loops, {&input, 1}, out->mutable_data<float>(), context.pool());
}

void RunUnary(const CpuContext& context, const DenseTensor& x, DenseTensor* out, ActKind kind, float a = 0.0F,
              float b = 0.0F) {
  RunUnary(context, x, out, ToElementwiseOp(kind), a, b);
}

#define WHERRY_CPU_UNARY(name, ...)                                              \
  template <typename T>                                                          \
  void name(const CpuContext& context, const DenseTensor& x, DenseTensor* out) { \
    RunUnary(context, x, out, __VA_ARGS__);                                      \
  }
WHERRY_CPU_UNARY(Relu, ActKind::kRelu)
WHERRY_CPU_UNARY(Relu6, ActKind::kClip, 0.0F, 6.0F)
WHERRY_CPU_UNARY(Sigmoid, ActKind::kSigmoid)
WHERRY_CPU_UNARY(Tanh, ActKind::kTanh)
WHERRY_CPU_UNARY(Exp, ActKind::kExp)
WHERRY_CPU_UNARY(Log, ActKind::kLog)
WHERRY_CPU_UNARY(Sqrt, ActKind::kSqrt)
WHERRY_CPU_UNARY(Rsqrt, ActKind::kRsqrt)
WHERRY_CPU_UNARY(Square, ActKind::kSquare)
WHERRY_CPU_UNARY(Reciprocal, ActKind::kReciprocal)
WHERRY_CPU_UNARY(Floor, ActKind::kFloor)
WHERRY_CPU_UNARY(Ceil, ActKind::kCeil)
WHERRY_CPU_UNARY(Round, ActKind::kRound)
WHERRY_CPU_UNARY(Erf, ActKind::kErf)
WHERRY_CPU_UNARY(Silu, ActKind::kSwish, 1.0F)
WHERRY_CPU_UNARY(Mish, ActKind::kMish)
WHERRY_CPU_UNARY(HardSwish, ActKind::kHardSwish)
WHERRY_CPU_UNARY(Sin, ElementwiseOp::kSin)
WHERRY_CPU_UNARY(Cos, ElementwiseOp::kCos)
WHERRY_CPU_UNARY(Tan, ElementwiseOp::kTan)
WHERRY_CPU_UNARY(Asin, ElementwiseOp::kAsin)
WHERRY_CPU_UNARY(Acos, ElementwiseOp::kAcos)
WHERRY_CPU_UNARY(Atan, ElementwiseOp::kAtan)
WHERRY_CPU_UNARY(Sinh, ElementwiseOp::kSinh)
WHERRY_CPU_UNARY(Cosh, ElementwiseOp::kCosh)
WHERRY_CPU_UNARY(Asinh, ElementwiseOp::kAsinh)
WHERRY_CPU_UNARY(Acosh, ElementwiseOp::kAcosh)
WHERRY_CPU_UNARY(Atanh, ElementwiseOp::kAtanh)
WHERRY_CPU_UNARY(Expm1, ElementwiseOp::kExpm1)
WHERRY_CPU_UNARY(Log1p, ElementwiseOp::kLog1p)
#undef WHERRY_CPU_UNARY

void RunTypedUnary(const CpuContext& context, const DenseTensor& x, DenseTensor* out, UnaryOp op) {
  const DenseTensor* const input = &x;
  RunTyped(UnaryTileOf(op, x.dtype()), {&input, 1}, out, context.pool());
}

#define WHERRY_CPU_UNARY_OF_NUMBERS(name, op)                                    \
  template <typename T>                                                          \
  void name(const CpuContext& context, const DenseTensor& x, DenseTensor* out) { \
    if constexpr (std::is_integral_v<T>) {                                       \
      RunTypedUnary(context, x, out, UnaryOp::op);                               \
    } else {                                                                     \
      RunUnary(context, x, out, ActKind::op);                                    \
    }                                                                            \
  }
WHERRY_CPU_UNARY_OF_NUMBERS(Abs, kAbs)
WHERRY_CPU_UNARY_OF_NUMBERS(Neg, kNeg)
WHERRY_CPU_UNARY_OF_NUMBERS(Sign, kSign)
#undef WHERRY_CPU_UNARY_OF_NUMBERS

template <typename T>
void IsInf(const CpuContext& context, const DenseTensor& x, DenseTensor* out) {
  RunTypedUnary(context, x, out, UnaryOp::kIsInf);
}

template <typename T>
void Softplus(const CpuContext& context, const DenseTensor& x, float beta, float threshold, DenseTensor* out) {
  RunUnary(context, x, out, ActKind::kSoftplus, beta, threshold);
}

template <typename T>
void HardSigmoid(const CpuContext& context, const DenseTensor& x, float slope, float offset, DenseTensor* out) {
  RunUnary(context, x, out, ActKind::kHardSigmoid, slope, offset);
}

template <typename T>
void LeakyRelu(const CpuContext& context, const DenseTensor& x, float negative_slope, DenseTensor* out) {
  RunUnary(context, x, out, ActKind::kLeakyRelu, negative_slope);
}

template <typename T>
void Elu(const CpuContext& context, const DenseTensor& x, float alpha, DenseTensor* out) {
  RunUnary(context, x, out, ActKind::kElu, alpha);
}

template <typename T>
void Gelu(const CpuContext& context, const DenseTensor& x, bool approximate, DenseTensor* out) {
  RunUnary(context, x, out, approximate ? ActKind::kGeluTanh : ActKind::kGelu);
}

template <typename T>
void Swish(const CpuContext& context, const DenseTensor& x, float beta, DenseTensor* out) {
  RunUnary(context, x, out, ActKind::kSwish, beta);
}

template <typename T>
void Clip(const CpuContext& context, const DenseTensor& x, const Scalar& min, const Scalar& max, DenseTensor* out) {
  RunUnary(context, x, out, ActKind::kClip, min.to<float>(), max.to<float>());
}

template <typename T>
void Scale(const CpuContext& context, const DenseTensor& x, const Scalar& scale, const Scalar& bias,
           bool bias_after_scale, DenseTensor* out) {
  const double factor = scale.to<double>();
  const double summand = bias_after_scale ? bias.to<double>() : bias.to<double>() * factor;
  RunUnary(context, x, out, ActKind::kLinear, static_cast<float>(factor), static_cast<float>(summand));
}

template <typename T>
void Dropout(const CpuContext& context, const DenseTensor& x, float p, const std::string& mode, DenseTensor* out) {
  const bool scales = mode == "downgrade_in_infer";
  RunUnary(context, x, out, ActKind::kLinear, scales ? static_cast<float>(1.0 - static_cast<double>(p)) : 1.0F);
}

}  // namespace

REGISTER_KERNEL(relu, cpu, kNative, kAny, Relu, float).PixelStrides();
REGISTER_KERNEL(relu6, cpu, kNative, kAny, Relu6, float).PixelStrides();
REGISTER_KERNEL(sigmoid, cpu, kNative, kAny, Sigmoid, float).PixelStrides();
REGISTER_KERNEL(tanh, cpu, kNative, kAny, Tanh, float).PixelStrides();
REGISTER_KERNEL(exp, cpu, kNative, kAny, Exp, float).PixelStrides();
REGISTER_KERNEL(log, cpu, kNative, kAny, Log, float).PixelStrides();
REGISTER_KERNEL(sqrt, cpu, kNative, kAny, Sqrt, float).PixelStrides();
REGISTER_KERNEL(rsqrt, cpu, kNative, kAny, Rsqrt, float).PixelStrides();
REGISTER_KERNEL(abs, cpu, kNative, kAny, Abs, float, int32_t, int64_t).PixelStrides();
REGISTER_KERNEL(neg, cpu, kNative, kAny, Neg, float, int32_t, int64_t).PixelStrides();
REGISTER_KERNEL(square, cpu, kNative, kAny, Square, float).PixelStrides();
REGISTER_KERNEL(reciprocal, cpu, kNative, kAny, Reciprocal, float).PixelStrides();
REGISTER_KERNEL(floor, cpu, kNative, kAny, Floor, float).PixelStrides();
REGISTER_KERNEL(ceil, cpu, kNative, kAny, Ceil, float).PixelStrides();
REGISTER_KERNEL(round, cpu, kNative, kAny, Round, float).PixelStrides();
REGISTER_KERNEL(sign, cpu, kNative, kAny, Sign, float, int32_t, int64_t).PixelStrides();
REGISTER_KERNEL(erf, cpu, kNative, kAny, Erf, float).PixelStrides();
REGISTER_KERNEL(sin, cpu, kNative, kAny, Sin, float).PixelStrides();
REGISTER_KERNEL(cos, cpu, kNative, kAny, Cos, float).PixelStrides();
REGISTER_KERNEL(tan, cpu, kNative, kAny, Tan, float).PixelStrides();
REGISTER_KERNEL(asin, cpu, kNative, kAny, Asin, float).PixelStrides();
REGISTER_KERNEL(acos, cpu, kNative, kAny, Acos, float).PixelStrides();
REGISTER_KERNEL(atan, cpu, kNative, kAny, Atan, float).PixelStrides();
REGISTER_KERNEL(sinh, cpu, kNative, kAny, Sinh, float).PixelStrides();
REGISTER_KERNEL(cosh, cpu, kNative, kAny, Cosh, float).PixelStrides();
REGISTER_KERNEL(asinh, cpu, kNative, kAny, Asinh, float).PixelStrides();
REGISTER_KERNEL(acosh, cpu, kNative, kAny, Acosh, float).PixelStrides();
REGISTER_KERNEL(atanh, cpu, kNative, kAny, Atanh, float).PixelStrides();
REGISTER_KERNEL(expm1, cpu, kNative, kAny, Expm1, float).PixelStrides();
REGISTER_KERNEL(log1p, cpu, kNative, kAny, Log1p, float).PixelStrides();
REGISTER_KERNEL(softplus, cpu, kNative, kAny, Softplus, float).PixelStrides();
REGISTER_KERNEL(silu, cpu, kNative, kAny, Silu, float).PixelStrides();
REGISTER_KERNEL(mish, cpu, kNative, kAny, Mish, float).PixelStrides();
REGISTER_KERNEL(hardswish, cpu, kNative, kAny, HardSwish, float).PixelStrides();
REGISTER_KERNEL(hardsigmoid, cpu, kNative, kAny, HardSigmoid, float).PixelStrides();
REGISTER_KERNEL(leaky_relu, cpu, kNative, kAny, LeakyRelu, float).PixelStrides();
REGISTER_KERNEL(elu, cpu, kNative, kAny, Elu, float).PixelStrides();
REGISTER_KERNEL(gelu, cpu, kNative, kAny, Gelu, float).PixelStrides();
REGISTER_KERNEL(swish, cpu, kNative, kAny, Swish, float).PixelStrides();
REGISTER_KERNEL(clip, cpu, kNative, kAny, Clip, float).PixelStrides();
REGISTER_KERNEL(scale, cpu, kNative, kAny, Scale, float).PixelStrides();
REGISTER_KERNEL(isinf, cpu, kNative, kAny, IsInf, float).PixelStrides();
REGISTER_KERNEL(dropout, cpu, kNative, kAny, Dropout, float).PixelStrides();

}  // namespace wherry::cpu
