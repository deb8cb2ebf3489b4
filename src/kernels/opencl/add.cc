// add with broadcasting in f32.
#include "kernel/kernel_registrar.h"
#include "kernels/opencl/broadcast.h"
#include "kernels/opencl/context.h"

namespace wherry {

namespace {

template <typename T>
void Add(const OpenCLContext& context, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  static_assert(std::is_same_v<T, float>);
  const auto count = static_cast<size_t>(out->numel());
  if (count == 0) return;
  const size_t global[] = {count};
  context.Launch("add", "", "add_f32", global, {}, x, y, *out,
                 opencl::MakeBroadcast(x.shape(), y.shape(), out->shape()));
}

}  // namespace

REGISTER_KERNEL(add, opencl, kOpenCL, kNCHW, Add, float);

}  // namespace wherry
