// Elementwise functions of one floating tensor: trigonometric, hyperbolic, special.
#include <cmath>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"
#include "kernels/ref/special.h"

namespace wherry::ref {
namespace {

#define WHERRY_REF_MATH(name, expression)                                            \
  template <typename T>                                                              \
  void name(const CpuContext& /*context*/, const DenseTensor& x, DenseTensor* out) { \
    const T* from = x.data<T>();                                                     \
    T* to = out->mutable_data<T>();                                                  \
    for (int64_t i = 0, count = x.numel(); i < count; ++i) {                         \
      const double v = Load(from[i]);                                                \
      to[i] = Store<T>(expression);                                                  \
    }                                                                                \
  }
WHERRY_REF_MATH(Tan, std::tan(v))
WHERRY_REF_MATH(Asin, std::asin(v))
WHERRY_REF_MATH(Acos, std::acos(v))
WHERRY_REF_MATH(Atan, std::atan(v))
WHERRY_REF_MATH(Sinh, std::sinh(v))
WHERRY_REF_MATH(Cosh, std::cosh(v))
WHERRY_REF_MATH(Asinh, std::asinh(v))
WHERRY_REF_MATH(Acosh, std::acosh(v))
WHERRY_REF_MATH(Atanh, std::atanh(v))
WHERRY_REF_MATH(Expm1, std::expm1(v))
WHERRY_REF_MATH(Log1p, std::log1p(v))
WHERRY_REF_MATH(Erfinv, InverseErf(v))
WHERRY_REF_MATH(Lgamma, LogGamma(v))
WHERRY_REF_MATH(DigammaKernel, Digamma(v))
WHERRY_REF_MATH(I0e, ScaledBessel(0, v))
WHERRY_REF_MATH(I1e, ScaledBessel(1, v))
WHERRY_REF_MATH(I0, Bessel(0, v))
WHERRY_REF_MATH(I1, Bessel(1, v))
#undef WHERRY_REF_MATH

template <typename T>
void PolygammaKernel(const CpuContext& /*context*/, const DenseTensor& x, int n, DenseTensor* out) {
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  for (int64_t i = 0, count = x.numel(); i < count; ++i) to[i] = Store<T>(Polygamma(n, Load(from[i])));
}

}  // namespace

REGISTER_KERNEL(tan, ref, kHost, kNCHW, Tan, WHERRY_REF_FLOATS);
REGISTER_KERNEL(asin, ref, kHost, kNCHW, Asin, WHERRY_REF_FLOATS);
REGISTER_KERNEL(acos, ref, kHost, kNCHW, Acos, WHERRY_REF_FLOATS);
REGISTER_KERNEL(atan, ref, kHost, kNCHW, Atan, WHERRY_REF_FLOATS);
REGISTER_KERNEL(sinh, ref, kHost, kNCHW, Sinh, WHERRY_REF_FLOATS);
REGISTER_KERNEL(cosh, ref, kHost, kNCHW, Cosh, WHERRY_REF_FLOATS);
REGISTER_KERNEL(asinh, ref, kHost, kNCHW, Asinh, WHERRY_REF_FLOATS);
REGISTER_KERNEL(acosh, ref, kHost, kNCHW, Acosh, WHERRY_REF_FLOATS);
REGISTER_KERNEL(atanh, ref, kHost, kNCHW, Atanh, WHERRY_REF_FLOATS);
REGISTER_KERNEL(expm1, ref, kHost, kNCHW, Expm1, WHERRY_REF_FLOATS);
REGISTER_KERNEL(log1p, ref, kHost, kNCHW, Log1p, WHERRY_REF_FLOATS);
REGISTER_KERNEL(erfinv, ref, kHost, kNCHW, Erfinv, WHERRY_REF_FLOATS);
REGISTER_KERNEL(lgamma, ref, kHost, kNCHW, Lgamma, WHERRY_REF_FLOATS);
REGISTER_KERNEL(digamma, ref, kHost, kNCHW, DigammaKernel, WHERRY_REF_FLOATS);
REGISTER_KERNEL(polygamma, ref, kHost, kNCHW, PolygammaKernel, WHERRY_REF_FLOATS);
REGISTER_KERNEL(i0, ref, kHost, kNCHW, I0, WHERRY_REF_FLOATS);
REGISTER_KERNEL(i0e, ref, kHost, kNCHW, I0e, WHERRY_REF_FLOATS);
REGISTER_KERNEL(i1, ref, kHost, kNCHW, I1, WHERRY_REF_FLOATS);
REGISTER_KERNEL(i1e, ref, kHost, kNCHW, I1e, WHERRY_REF_FLOATS);

}  // namespace wherry::ref
