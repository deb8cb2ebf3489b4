// cos in f32.
#include "kernel/kernel_registrar.h"
#include "kernels/opencl/context.h"

namespace wherry {

namespace {

template <typename T>
void Cos(const OpenCLContext& context, const DenseTensor& x, DenseTensor* out) {
  static_assert(std::is_same_v<T, float>);
  const auto count = static_cast<size_t>(x.numel());
  if (count == 0) return;
  const size_t global[] = {count};
  context.Launch("cos", "", "cos_f32", global, {}, x, *out);
}

}  // namespace

REGISTER_KERNEL(cos, opencl, kOpenCL, kNCHW, Cos, float);

}  // namespace wherry
