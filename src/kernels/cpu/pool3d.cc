#include "kernels/cpu/pool/pool3d.h"

#include <string>
#include <vector>

#include "core/device_context.h"
#include "kernel/kernel_impl.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/pool/pool_attributes.h"
#include "op/infer/window.h"

namespace wherry::cpu {
namespace {

Support Supports(const KernelProblem& problem) {
  if (problem.Attr<bool>("global_pooling") || problem.Attr<bool>("adaptive")) {
    return Support::No("needs windows of a given size");
  }
  if (!problem.HasAttr("kernel_size")) return Support::No("needs the size of windows");
  const int64_t kernel = problem.Attr<IntArray>("kernel_size")[2];
  const int64_t dilation = problem.Attr<std::vector<int64_t>>("dilations").back();
  // The product might overflow.
  if (kernel > kMostPoolColumns || dilation > kMostPoolColumns || (kernel - 1) * dilation >= kMostPoolColumns) {
    return Support::No("windows are too wide");
  }
  return Support::Yes();
}

template <typename T>
void Pool3dNchw(const CpuContext& context, const DenseTensor& x, const IntArray& kernel_size,
                const std::vector<int64_t>& strides, const std::vector<int64_t>& paddings, bool ceil_mode,
                bool exclusive, const std::string& pooling_type, bool /*global_pooling*/, bool /*adaptive*/,
                const std::string& padding_algorithm, const std::vector<int64_t>& dilations, DenseTensor* out) {
  const WindowAttributes window = ParseWindow(3, strides, paddings, padding_algorithm, dilations);
  const auto axis = [&](int i) {
    return WindowPoolAxis(window, i, x.shape()[2 + i], out->shape()[2 + i], kernel_size[static_cast<size_t>(i)],
                          ceil_mode);
  };
  VolumePoolShape shape;
  shape.kind = PoolKindOf(pooling_type, exclusive);
  shape.volumes = x.shape()[0] * x.shape()[1];
  shape.depth = axis(0);
  shape.rows = axis(1);
  shape.columns = axis(2);
  Pool3d(shape, x.data<T>(), out->mutable_data<T>(), context.pool());
}

}  // namespace

REGISTER_KERNEL_VARIANT(pool3d, cpu, rows, kNative, kFloat, kNCHW)
    .Supports(&Supports)
    .Run(&KernelImpl<&Pool3dNchw<float>>::Compute);

}  // namespace wherry::cpu
