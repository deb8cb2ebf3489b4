// interpolate in f32, along one axis or two neighbouring ones: images in both layouts, and plain tensors whose channels
// are innermost.
#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "core/device_context.h"
#include "kernel/kernel_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/resample/resample.h"
#include "op/infer/resample.h"

namespace wherry::cpu {
namespace {

struct InterpolatePlan : KernelPlan {
  ResampleShape shape;
  int64_t tasks = 1;
};

ResampleRule RuleOf(const KernelProblem& problem) {
  return ParseResampleRule(problem.Attr<std::string>("mode"), problem.Attr<std::string>("coordinates"),
                           problem.Attr<std::string>("nearest_mode"), problem.Attr<std::string>("keep_aspect_ratio"),
                           problem.Attr<bool>("recompute_scale"), problem.Attr<double>("cubic_coefficient"),
                           problem.Attr<bool>("exclude_outside"), problem.Attr<bool>("antialias"));
}

// The axes, not negative, in the attribute's order.
std::vector<int> AxesOf(const KernelProblem& problem, int rank) {
  std::vector<int> axes;
  for (const int64_t axis : problem.Attr<std::vector<int64_t>>("axes")) {
    axes.push_back(static_cast<int>(axis < 0 ? axis + rank : axis));
  }
  return axes;
}

template <DataLayout kLayout>
Support Supports(const KernelProblem& problem) {
  const MetaTensor& x = *problem.Input("x");
  if (!x.rank_known) return Support::No("needs an input of known rank");
  if (problem.Input("roi") != nullptr || problem.Attr<std::string>("coordinates") == "tf_crop_and_resize") {
    return Support::No("does not crop");
  }
  if (problem.Input("scale_tensor") != nullptr) return Support::No("needs scales that are known when planning");
  if (problem.Attr<std::string>("keep_aspect_ratio") != "stretch") return Support::No("does not keep aspect ratios");
  const std::vector<int> axes = AxesOf(problem, x.rank());
  if (axes.empty() || axes.size() > 2 || (axes.size() == 2 && std::abs(axes[0] - axes[1]) != 1)) {
    return Support::No("needs one axis or two neighbouring ones");
  }
  if (kLayout == DataLayout::kNHWC) {
    if (x.rank() > 4) return Support::No("needs an image of rank 3 or 4");
    if (std::any_of(axes.begin(), axes.end(), [](int axis) { return axis < 2; })) {
      return Support::No("resamples no channels");
    }
  }
  return Support::Yes();
}

template <DataLayout kLayout>
std::shared_ptr<const KernelPlan> Plan(const KernelProblem& problem) {
  const TensorMeta x = problem.Input("x")->tensor_meta();
  const TensorMeta out = problem.Output().tensor_meta();
  const int rank = x.shape.rank();
  const ResampleRule rule = RuleOf(problem);
  const std::vector<int> axes = AxesOf(problem, rank);
  std::vector<int64_t> size;
  for (const int axis : axes) size.push_back(out.shape[axis]);
  std::optional<ResampleTaps> taps[Shape::kMaxRank];
  for (const ResampleAxis& axis :
       ResolveResampleAxes(rule, axes, x.shape, size, problem.Attr<std::vector<double>>("scale"))) {
    taps[axis.axis] = ResampleTaps::Of(rule, axis);
  }
  const auto taps_of = [&](int axis) { return taps[axis] ? *taps[axis] : ResampleTaps::Unchanged(x.shape[axis]); };

  auto plan = std::make_shared<InterpolatePlan>();
  ResampleShape& s = plan->shape;
  s.nearest = rule.mode == ResampleMode::kNearest;
  if constexpr (kLayout == DataLayout::kNHWC) {
    s.outer = x.shape[0];
    if (rank == 4) s.rows = taps_of(2);
    s.columns = taps_of(rank - 1);
    s.inner = x.shape[1];
    s.in_pixel_stride = x.effective_pixel_stride();
    s.out_pixel_stride = out.effective_pixel_stride();
  } else {
    const int last = *std::max_element(axes.begin(), axes.end());
    const int first = axes.size() == 2 ? last - 1 : last;
    s.outer = x.shape.numel(0, first);
    if (first != last) s.rows = taps_of(first);
    s.columns = taps_of(last);
    s.inner = x.shape.numel(last + 1, rank);
    s.in_pixel_stride = s.inner;
    s.out_pixel_stride = s.inner;
  }
  plan->tasks = ResampleTasks(s, problem.threads());
  plan->scratch_bytes = static_cast<size_t>(ResampleScratch(s, plan->tasks)) * sizeof(float);
  return plan;
}

void Run(KernelContext* context) {
  DenseTensor& out = *context->Output(0);
  if (out.numel() == 0) return;
  const InterpolatePlan& plan = context->plan<InterpolatePlan>();
  const CpuContext& device = context->device_as<CpuContext>();
  Resample(plan.shape, plan.tasks, context->Input(0)->data<float>(), out.mutable_data<float>(),
           static_cast<float*>(device.Scratch(plan.scratch_bytes)), device.pool());
}

}  // namespace

REGISTER_KERNEL_VARIANT(interpolate, cpu, rows, kNative, kFloat, kNHWC)
    .Supports(&Supports<DataLayout::kNHWC>)
    .Plan(&Plan<DataLayout::kNHWC>)
    .Run(&Run)
    .PixelStrides();
REGISTER_KERNEL_VARIANT(interpolate, cpu, rows, kNative, kFloat, kNCHW)
    .Supports(&Supports<DataLayout::kNCHW>)
    .Plan(&Plan<DataLayout::kNCHW>)
    .Run(&Run);

}  // namespace wherry::cpu
