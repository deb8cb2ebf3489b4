#include "kernels/cpu/pool/pool2d.h"

#include <string>
#include <type_traits>

#include "core/device_context.h"
#include "kernel/kernel_impl.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/pool/pool_attributes.h"
#include "op/infer/window.h"

namespace wherry::cpu {
namespace {

// Floats of every kind, the maximum of bytes.
template <typename T>
void Pool2dNhwc(const CpuContext& context, const DenseTensor& x, const IntArray& kernel_size,
                const std::vector<int64_t>& strides, const std::vector<int64_t>& paddings, bool ceil_mode,
                bool exclusive, const std::string& pooling_type, bool global_pooling, bool adaptive,
                const std::string& padding_algorithm, const std::vector<int64_t>& dilations, DenseTensor* out) {
  const WindowAttributes window = ParseWindow(2, strides, paddings, padding_algorithm, dilations);
  const auto axis = [&](int i) {
    const int64_t in = x.shape()[2 + i];
    if (global_pooling) return PoolAxis::Global(in);
    const int64_t size = out->shape()[2 + i];
    if (!adaptive) return WindowPoolAxis(window, i, in, size, kernel_size[static_cast<size_t>(i)], ceil_mode);
    PoolAxis a;
    a.in = in;
    a.out = size;
    a.adaptive = true;
    return a;
  };
  PoolShape shape;
  shape.kind = PoolKindOf(pooling_type, exclusive);
  shape.batch = x.shape()[0];
  shape.channels = x.shape()[1];
  shape.rows = axis(0);
  shape.columns = axis(1);
  shape.in_pixel_stride = x.meta().effective_pixel_stride();
  shape.out_pixel_stride = out->meta().effective_pixel_stride();
  if constexpr (std::is_same_v<T, float>) {
    Pool2d(shape, x.data<T>(), out->mutable_data<T>(), context.pool());
  } else {
    MaxPool2dBytes(shape, x.data<T>(), out->mutable_data<T>(), context.pool());
  }
}

Support SupportsBytes(const KernelProblem& problem) {
  const bool is_max = problem.Attr<std::string>("pooling_type") == "max";
  return is_max ? Support::Yes() : Support::No("of bytes, only the maximum");
}

}  // namespace

REGISTER_KERNEL(pool2d, cpu, kNative, kNHWC, Pool2dNhwc, float).PixelStrides();
REGISTER_KERNEL_VARIANT(pool2d, cpu, bytes, kNative, kUInt8, kNHWC)
    .Supports(&SupportsBytes)
    .Run(&KernelImpl<&Pool2dNhwc<uint8_t>>::Compute)
    .PixelStrides();
REGISTER_KERNEL_VARIANT(pool2d, cpu, bytes, kNative, kInt8, kNHWC)
    .Supports(&SupportsBytes)
    .Run(&KernelImpl<&Pool2dNhwc<int8_t>>::Compute)
    .PixelStrides();

}  // namespace wherry::cpu
