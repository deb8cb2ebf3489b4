// Elementwise functions of one tensor.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/activation.h"
#include "kernels/ref/element.h"

namespace wherry::ref {
namespace {

template <typename T, typename Function>
void Map(const DenseTensor& x, DenseTensor* out, Function function) {
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  for (int64_t i = 0, count = x.numel(); i < count; ++i) to[i] = Store<T>(function(Load(from[i])));
}

template <typename T, typename Predicate>
void MapToBool(const DenseTensor& x, DenseTensor* out, Predicate predicate) {
  const T* from = x.data<T>();
  bool* to = out->mutable_data<bool>();
  for (int64_t i = 0, count = x.numel(); i < count; ++i) to[i] = predicate(Load(from[i]));
}

template <typename T>
void MapActivation(const DenseTensor& x, DenseTensor* out, ActKind kind, double a = 0.0, double b = 0.0) {
  Map<T>(x, out, [=](double v) { return Activate(kind, v, a, b); });
}

// -- Floats only.

#define WHERRY_REF_FLOAT_FUNCTION(name, expression)                                  \
  template <typename T>                                                              \
  void name(const CpuContext& /*context*/, const DenseTensor& x, DenseTensor* out) { \
    Map<T>(x, out, [](double v) { return expression; });                             \
  }
WHERRY_REF_FLOAT_FUNCTION(Relu6, Activate(ActKind::kClip, v, 0.0, 6.0))
WHERRY_REF_FLOAT_FUNCTION(Sigmoid, Activate(ActKind::kSigmoid, v, 0.0, 0.0))
WHERRY_REF_FLOAT_FUNCTION(Tanh, std::tanh(v))
WHERRY_REF_FLOAT_FUNCTION(Exp, std::exp(v))
WHERRY_REF_FLOAT_FUNCTION(Log, std::log(v))
WHERRY_REF_FLOAT_FUNCTION(Sqrt, std::sqrt(v))
WHERRY_REF_FLOAT_FUNCTION(Rsqrt, 1.0 / std::sqrt(v))
WHERRY_REF_FLOAT_FUNCTION(Reciprocal, 1.0 / v)
WHERRY_REF_FLOAT_FUNCTION(Floor, std::floor(v))
WHERRY_REF_FLOAT_FUNCTION(Ceil, std::ceil(v))
WHERRY_REF_FLOAT_FUNCTION(Round, std::nearbyint(v))  // ties to even: nothing here changes the rounding mode
WHERRY_REF_FLOAT_FUNCTION(Erf, std::erf(v))
WHERRY_REF_FLOAT_FUNCTION(Sin, std::sin(v))
WHERRY_REF_FLOAT_FUNCTION(Cos, std::cos(v))
WHERRY_REF_FLOAT_FUNCTION(Silu, Activate(ActKind::kSwish, v, 1.0, 0.0))
WHERRY_REF_FLOAT_FUNCTION(Mish, Activate(ActKind::kMish, v, 0.0, 0.0))
WHERRY_REF_FLOAT_FUNCTION(HardSwish, Activate(ActKind::kHardSwish, v, 0.0, 0.0))
#undef WHERRY_REF_FLOAT_FUNCTION

template <typename T>
void Softplus(const CpuContext& /*context*/, const DenseTensor& x, float beta, float threshold, DenseTensor* out) {
  MapActivation<T>(x, out, ActKind::kSoftplus, beta, threshold);
}

template <typename T>
void HardSigmoid(const CpuContext& /*context*/, const DenseTensor& x, float slope, float offset, DenseTensor* out) {
  MapActivation<T>(x, out, ActKind::kHardSigmoid, slope, offset);
}

template <typename T>
void LeakyRelu(const CpuContext& /*context*/, const DenseTensor& x, float negative_slope, DenseTensor* out) {
  MapActivation<T>(x, out, ActKind::kLeakyRelu, negative_slope);
}

template <typename T>
void Elu(const CpuContext& /*context*/, const DenseTensor& x, float alpha, DenseTensor* out) {
  MapActivation<T>(x, out, ActKind::kElu, alpha);
}

template <typename T>
void Gelu(const CpuContext& /*context*/, const DenseTensor& x, bool approximate, DenseTensor* out) {
  MapActivation<T>(x, out, approximate ? ActKind::kGeluTanh : ActKind::kGelu);
}

template <typename T>
void Swish(const CpuContext& /*context*/, const DenseTensor& x, float beta, DenseTensor* out) {
  MapActivation<T>(x, out, ActKind::kSwish, beta);
}

template <typename T>
void IsNanKernel(const CpuContext& /*context*/, const DenseTensor& x, DenseTensor* out) {
  MapToBool<T>(x, out, [](double v) { return std::isnan(v); });
}

template <typename T>
void IsInf(const CpuContext& /*context*/, const DenseTensor& x, DenseTensor* out) {
  MapToBool<T>(x, out, [](double v) { return std::isinf(v); });
}

// -- Integers too.

template <typename T>
void Relu(const CpuContext& /*context*/, const DenseTensor& x, DenseTensor* out) {
  Map<T>(x, out, [](Wide<T> v) { return v < Wide<T>{0} ? Wide<T>{0} : v; });
}

template <typename T>
void Abs(const CpuContext& /*context*/, const DenseTensor& x, DenseTensor* out) {
  Map<T>(x, out, [](Wide<T> v) {
    if constexpr (FloatElement<T>) {
      return std::fabs(v);
    } else {
      return v < T{0} ? FromBits<T>(0 - Bits(v)) : v;
    }
  });
}

template <typename T>
void Neg(const CpuContext& /*context*/, const DenseTensor& x, DenseTensor* out) {
  Map<T>(x, out, [](Wide<T> v) {
    if constexpr (FloatElement<T>) {
      return -v;
    } else {
      return FromBits<T>(0 - Bits(v));
    }
  });
}

template <typename T>
void Square(const CpuContext& /*context*/, const DenseTensor& x, DenseTensor* out) {
  Map<T>(x, out, [](Wide<T> v) {
    if constexpr (FloatElement<T>) {
      return v * v;
    } else {
      return FromBits<T>(Bits(v) * Bits(v));
    }
  });
}

template <typename T>
void Sign(const CpuContext& /*context*/, const DenseTensor& x, DenseTensor* out) {
  Map<T>(x, out, [](Wide<T> v) {
    if (IsNan(v)) return v;
    return static_cast<Wide<T>>((Wide<T>{0} < v) - (v < Wide<T>{0}));
  });
}

template <typename T>
void LogicalNot(const CpuContext& /*context*/, const DenseTensor& x, DenseTensor* out) {
  MapToBool<T>(x, out, [](Wide<T> v) { return v == Wide<T>{0}; });
}

// A scalar as an integer of type T: beyond the range, the nearest end of it.
template <IntegerElement T>
T Saturated(const Scalar& scalar) {
  using Limits = std::numeric_limits<T>;
  if (scalar.is_floating() && scalar.to<double>() >= static_cast<double>(Limits::max())) return Limits::max();
  const int64_t value = scalar.to<int64_t>();
  if (std::cmp_less(value, Limits::min())) return Limits::min();
  return std::cmp_greater(value, Limits::max()) ? Limits::max() : static_cast<T>(value);
}

template <typename T>
void Clip(const CpuContext& /*context*/, const DenseTensor& x, const Scalar& min, const Scalar& max, DenseTensor* out) {
  Wide<T> low;
  Wide<T> high;
  if constexpr (FloatElement<T>) {
    low = Load(Store<T>(min.to<double>()));
    high = Load(Store<T>(max.to<double>()));
  } else {
    low = Saturated<T>(min);
    high = Saturated<T>(max);
  }
  // NaN compares false twice and stays.
  Map<T>(x, out, [low, high](Wide<T> v) {
    const Wide<T> raised = v < low ? low : v;
    return raised > high ? high : raised;
  });
}

template <typename T>
void Scale(const CpuContext& /*context*/, const DenseTensor& x, const Scalar& scale, const Scalar& bias,
           bool bias_after_scale, DenseTensor* out) {
  if constexpr (FloatElement<T>) {
    const double factor = scale.to<double>();
    const double summand = bias.to<double>();
    Map<T>(x, out, [=](double v) { return bias_after_scale ? v * factor + summand : (v + summand) * factor; });
  } else {
    const uint64_t factor = Bits(scale.to<int64_t>());
    const uint64_t summand = Bits(bias.to<int64_t>());
    Map<T>(x, out, [=](T v) {
      return FromBits<T>(bias_after_scale ? Bits(v) * factor + summand : (Bits(v) + summand) * factor);
    });
  }
}

template <typename T>
void Dropout(const CpuContext& /*context*/, const DenseTensor& x, float p, const std::string& mode, DenseTensor* out) {
  const double factor = mode == "downgrade_in_infer" ? 1.0 - static_cast<double>(p) : 1.0;
  Map<T>(x, out, [factor](double v) { return v * factor; });
}

}  // namespace

REGISTER_KERNEL(relu, ref, kHost, kNCHW, Relu, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(relu6, ref, kHost, kNCHW, Relu6, WHERRY_REF_FLOATS);
REGISTER_KERNEL(sigmoid, ref, kHost, kNCHW, Sigmoid, WHERRY_REF_FLOATS);
REGISTER_KERNEL(tanh, ref, kHost, kNCHW, Tanh, WHERRY_REF_FLOATS);
REGISTER_KERNEL(exp, ref, kHost, kNCHW, Exp, WHERRY_REF_FLOATS);
REGISTER_KERNEL(log, ref, kHost, kNCHW, Log, WHERRY_REF_FLOATS);
REGISTER_KERNEL(sqrt, ref, kHost, kNCHW, Sqrt, WHERRY_REF_FLOATS);
REGISTER_KERNEL(rsqrt, ref, kHost, kNCHW, Rsqrt, WHERRY_REF_FLOATS);
REGISTER_KERNEL(abs, ref, kHost, kNCHW, Abs, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(neg, ref, kHost, kNCHW, Neg, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(square, ref, kHost, kNCHW, Square, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(reciprocal, ref, kHost, kNCHW, Reciprocal, WHERRY_REF_FLOATS);
REGISTER_KERNEL(floor, ref, kHost, kNCHW, Floor, WHERRY_REF_FLOATS);
REGISTER_KERNEL(ceil, ref, kHost, kNCHW, Ceil, WHERRY_REF_FLOATS);
REGISTER_KERNEL(round, ref, kHost, kNCHW, Round, WHERRY_REF_FLOATS);
REGISTER_KERNEL(sign, ref, kHost, kNCHW, Sign, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(erf, ref, kHost, kNCHW, Erf, WHERRY_REF_FLOATS);
REGISTER_KERNEL(sin, ref, kHost, kNCHW, Sin, WHERRY_REF_FLOATS);
REGISTER_KERNEL(cos, ref, kHost, kNCHW, Cos, WHERRY_REF_FLOATS);
REGISTER_KERNEL(softplus, ref, kHost, kNCHW, Softplus, WHERRY_REF_FLOATS);
REGISTER_KERNEL(silu, ref, kHost, kNCHW, Silu, WHERRY_REF_FLOATS);
REGISTER_KERNEL(mish, ref, kHost, kNCHW, Mish, WHERRY_REF_FLOATS);
REGISTER_KERNEL(hardswish, ref, kHost, kNCHW, HardSwish, WHERRY_REF_FLOATS);
REGISTER_KERNEL(hardsigmoid, ref, kHost, kNCHW, HardSigmoid, WHERRY_REF_FLOATS);
REGISTER_KERNEL(leaky_relu, ref, kHost, kNCHW, LeakyRelu, WHERRY_REF_FLOATS);
REGISTER_KERNEL(elu, ref, kHost, kNCHW, Elu, WHERRY_REF_FLOATS);
REGISTER_KERNEL(gelu, ref, kHost, kNCHW, Gelu, WHERRY_REF_FLOATS);
REGISTER_KERNEL(swish, ref, kHost, kNCHW, Swish, WHERRY_REF_FLOATS);
REGISTER_KERNEL(clip, ref, kHost, kNCHW, Clip, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(scale, ref, kHost, kNCHW, Scale, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(dropout, ref, kHost, kNCHW, Dropout, WHERRY_REF_FLOATS);
REGISTER_KERNEL(logical_not, ref, kHost, kNCHW, LogicalNot, WHERRY_REF_ALL);
REGISTER_KERNEL(isnan, ref, kHost, kNCHW, IsNanKernel, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(isinf, ref, kHost, kNCHW, IsInf, WHERRY_REF_NUMBERS);

}  // namespace wherry::ref
