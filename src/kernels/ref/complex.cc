// Complex numbers, which lie in memory as pairs of their parts.
#include <complex>
#include <cstring>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/broadcast.h"
#include "kernels/ref/element.h"

namespace wherry::ref {
namespace {

template <typename T>
void CopyBits(const CpuContext& /*context*/, const DenseTensor& x, DenseTensor* out) {
  if (x.nbytes() > 0) std::memcpy(out->mutable_raw_data(), x.raw_data(), x.nbytes());
}

template <typename T>
void Add(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapBroadcast<T, T, T>(x, y, out, [](T a, T b) { return a + b; });
}

template <typename T>
void Subtract(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapBroadcast<T, T, T>(x, y, out, [](T a, T b) { return a - b; });
}

template <typename T>
void Multiply(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapBroadcast<T, T, T>(x, y, out, [](T a, T b) { return a * b; });
}

template <typename T>
void Divide(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapBroadcast<T, T, T>(x, y, out, [](T a, T b) { return a / b; });
}

template <typename T>
void Scale(const CpuContext& /*context*/, const DenseTensor& x, const Scalar& scale, const Scalar& bias,
           bool bias_after_scale, DenseTensor* out) {
  using Part = typename T::value_type;
  const auto factor = static_cast<Part>(scale.to<double>());
  const auto summand = static_cast<Part>(bias.to<double>());
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  for (int64_t i = 0, count = x.numel(); i < count; ++i) {
    to[i] = bias_after_scale ? from[i] * factor + summand : (from[i] + summand) * factor;
  }
}

}  // namespace

REGISTER_KERNEL(as_real, ref, kHost, kNCHW, CopyBits, WHERRY_REF_COMPLEX);
REGISTER_KERNEL(as_complex, ref, kHost, kNCHW, CopyBits, float, double);

// The operators have their kernels for real numbers elsewhere.
REGISTER_KERNEL_VARIANT(add, ref, complex, kHost, kComplex64, kNCHW)
    .Run(&KernelImpl<&Add<std::complex<float>>>::Compute);
REGISTER_KERNEL_VARIANT(add, ref, complex, kHost, kComplex128, kNCHW)
    .Run(&KernelImpl<&Add<std::complex<double>>>::Compute);
REGISTER_KERNEL_VARIANT(subtract, ref, complex, kHost, kComplex64, kNCHW)
    .Run(&KernelImpl<&Subtract<std::complex<float>>>::Compute);
REGISTER_KERNEL_VARIANT(subtract, ref, complex, kHost, kComplex128, kNCHW)
    .Run(&KernelImpl<&Subtract<std::complex<double>>>::Compute);
REGISTER_KERNEL_VARIANT(multiply, ref, complex, kHost, kComplex64, kNCHW)
    .Run(&KernelImpl<&Multiply<std::complex<float>>>::Compute);
REGISTER_KERNEL_VARIANT(multiply, ref, complex, kHost, kComplex128, kNCHW)
    .Run(&KernelImpl<&Multiply<std::complex<double>>>::Compute);
REGISTER_KERNEL_VARIANT(divide, ref, complex, kHost, kComplex64, kNCHW)
    .Run(&KernelImpl<&Divide<std::complex<float>>>::Compute);
REGISTER_KERNEL_VARIANT(divide, ref, complex, kHost, kComplex128, kNCHW)
    .Run(&KernelImpl<&Divide<std::complex<double>>>::Compute);
REGISTER_KERNEL_VARIANT(scale, ref, complex, kHost, kComplex64, kNCHW)
    .Run(&KernelImpl<&Scale<std::complex<float>>>::Compute);
REGISTER_KERNEL_VARIANT(scale, ref, complex, kHost, kComplex128, kNCHW)
    .Run(&KernelImpl<&Scale<std::complex<double>>>::Compute);

}  // namespace wherry::ref
