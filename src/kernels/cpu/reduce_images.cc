// mean and max over the pixels of images whose channels lie last, which stay as they lie: what squeeze-and-excitation
// begins with, and what classifiers end with.
#include <algorithm>
#include <limits>

#include "core/device_context.h"
#include "kernel/kernel_impl.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/pool/pool2d.h"

namespace wherry::cpu {
namespace {

Support Supports(const KernelProblem& problem) {
  if (!problem.HasAttr("axis") || !problem.Attr<bool>("keepdim"))
    return Support::No("of axes that stay, as dimensions of 1");
  const MetaTensor& x = *problem.Input("x");
  const IntArray& axis = problem.Attr<IntArray>("axis");
  if (!x.rank_known || x.rank() != 4 || axis.size() != 2) return Support::No("over the pixels of images");
  const auto at = [&axis](size_t i) { return axis[i] < 0 ? axis[i] + 4 : axis[i]; };
  const bool pixels = at(0) + at(1) == 5 && (at(0) == 2 || at(0) == 3);
  return pixels ? Support::Yes() : Support::No("over the pixels of images");
}

template <PoolKind kKind>
void Reduce(const CpuContext& context, const DenseTensor& x, const IntArray& /*axis*/, DenseTensor* out) {
  if (x.numel() == 0) {
    const bool mean = kKind == PoolKind::kAverage;
    const float nothing = mean ? std::numeric_limits<float>::quiet_NaN() : -std::numeric_limits<float>::infinity();
    std::fill_n(out->mutable_data<float>(), out->numel(), nothing);
    return;
  }
  PoolShape shape;
  shape.kind = kKind;
  shape.batch = x.shape()[0];
  shape.channels = x.shape()[1];
  shape.rows = PoolAxis::Global(x.shape()[2]);
  shape.columns = PoolAxis::Global(x.shape()[3]);
  shape.in_pixel_stride = x.meta().effective_pixel_stride();
  shape.out_pixel_stride = out->meta().effective_pixel_stride();
  Pool2d(shape, x.data<float>(), out->mutable_data<float>(), context.pool());
}

}  // namespace

REGISTER_KERNEL_VARIANT(mean, cpu, pixels, kNative, kFloat, kNHWC)
    .Supports(&Supports)
    .Run(&KernelImpl<&Reduce<PoolKind::kAverage>>::Compute)
    .PixelStrides();
REGISTER_KERNEL_VARIANT(max, cpu, pixels, kNative, kFloat, kNHWC)
    .Supports(&Supports)
    .Run(&KernelImpl<&Reduce<PoolKind::kMax>>::Compute)
    .PixelStrides();

}  // namespace wherry::cpu
