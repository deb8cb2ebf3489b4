// conv2d in f32 on NHWC images: the algorithm that fits the shape ("auto"), and each algorithm as a variant of its own
// for whoever measures instead.
#include <memory>
#include <utility>

#include "core/device_context.h"
#include "kernel/kernel_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/conv/conv.h"
#include "kernels/cpu/op_epilogue.h"
#include "op/infer/window.h"

namespace wherry::cpu {
namespace {

// Positions among the kernel's tensors and attributes.
constexpr size_t kX = 0;
constexpr size_t kFilter = 1;
constexpr size_t kOperands = 2;
constexpr size_t kEpilogue = 5;

struct Conv2dPlan : KernelPlan {
  explicit Conv2dPlan(ConvPlan plan) : conv(std::move(plan)) {}
  ConvPlan conv;
  int64_t packed_floats = 0;  // in front of the scratch, when the filter is not constant
};

WindowAttributes WindowOf(const KernelProblem& problem) {
  return ParseWindow(2, problem.Attr<std::vector<int64_t>>("strides"), problem.Attr<std::vector<int64_t>>("paddings"),
                     problem.Attr<std::string>("padding_algorithm"), problem.Attr<std::vector<int64_t>>("dilations"));
}

ConvWeightShape WeightShapeOf(const Shape& filter, int64_t groups) {
  return {filter[0], filter[1], filter[2], filter[3], groups};
}

// All but what depends on the image.
ConvShape PartialShapeOf(const KernelProblem& problem) {
  const WindowAttributes window = WindowOf(problem);
  ConvShape s;
  s.weight = WeightShapeOf(problem.Input("filter")->shape(), problem.Attr<int64_t>("groups"));
  s.stride_height = window.stride[0];
  s.stride_width = window.stride[1];
  s.dilation_height = window.dilation[0];
  s.dilation_width = window.dilation[1];
  return s;
}

ConvShape ShapeOf(const KernelProblem& problem) {
  const TensorMeta x = problem.Input("x")->tensor_meta();
  ConvShape s = PartialShapeOf(problem);
  s.batch = x.shape[0];
  s.in_height = x.shape[2];
  s.in_width = x.shape[3];
  const WindowAttributes window = WindowOf(problem);
  const WindowAxis rows = ResolveWindowAxis(window, 0, s.in_height, s.weight.kernel_height, false);
  const WindowAxis columns = ResolveWindowAxis(window, 1, s.in_width, s.weight.kernel_width, false);
  s.pad_top = rows.pad_begin;
  s.pad_bottom = rows.pad_end;
  s.pad_left = columns.pad_begin;
  s.pad_right = columns.pad_end;
  s.in_pixel_stride = x.effective_pixel_stride();
  s.out_pixel_stride = problem.Output().tensor_meta().effective_pixel_stride();
  return s;
}

template <ConvAlgorithm kAlgorithm>
Support SupportsVariant(const KernelProblem& problem) {
  if (!problem.Input("filter")->known()) return Support::No("needs a filter of known shape");
  if (CanRun(kAlgorithm, PartialShapeOf(problem))) return Support::Yes();
  return Support::No(kAlgorithm == ConvAlgorithm::kDepthwise
                         ? "needs one input and one output channel per group"
                         : "needs a 3x3 kernel, strides and dilations of 1, and one group");
}

std::shared_ptr<const KernelPlan> MakePlan(const KernelProblem& problem, const ConvShape& shape,
                                           ConvAlgorithm algorithm) {
  auto plan = std::make_shared<Conv2dPlan>(ConvPlan(algorithm, shape, problem.threads()));
  if (problem.IsConstant("filter")) {
    plan->packs.push_back({kFilter, ConvPackFormat(algorithm, shape.weight.groups)});
  } else {
    plan->packed_floats = ConvPackedSize(algorithm, shape.weight);
  }
  plan->scratch_bytes = static_cast<size_t>(plan->packed_floats + plan->conv.scratch_floats()) * sizeof(float);
  plan->algorithm = plan->conv.DebugString();
  return plan;
}

std::shared_ptr<const KernelPlan> PlanAuto(const KernelProblem& problem) {
  const ConvShape shape = ShapeOf(problem);
  ConvAlgorithm algorithm = ChooseConvAlgorithm(shape, problem.threads());
  // A filter that is transformed at every run costs more than Winograd saves on all but large images.
  const bool winograd = algorithm == ConvAlgorithm::kWinograd2 || algorithm == ConvAlgorithm::kWinograd4;
  if (winograd && !problem.IsConstant("filter")) algorithm = ConvAlgorithm::kDirect;
  return MakePlan(problem, shape, algorithm);
}

template <ConvAlgorithm kAlgorithm>
std::shared_ptr<const KernelPlan> PlanVariant(const KernelProblem& problem) {
  return MakePlan(problem, ShapeOf(problem), kAlgorithm);
}

PackedWeight PackFilter(const DenseTensor& filter, std::string_view format) {
  const ConvFormat parsed = ParseConvPackFormat(format);
  const ConvWeightShape shape = WeightShapeOf(filter.shape(), parsed.groups);
  PackedWeight packed;
  packed.format = format;
  packed.buffer =
      HostAllocator().Allocate(static_cast<size_t>(ConvPackedSize(parsed.algorithm, shape)) * sizeof(float));
  PackConv(parsed.algorithm, shape, filter.data<float>(), static_cast<float*>(packed.buffer->data()), nullptr);
  return packed;
}

void Run(KernelContext* context) {
  DenseTensor& out = *context->Output(0);
  if (out.numel() == 0) return;
  const Conv2dPlan& plan = context->plan<Conv2dPlan>();
  const CpuContext& device = context->device_as<CpuContext>();
  float* scratch = static_cast<float*>(device.Scratch(plan.scratch_bytes));
  const float* packed = nullptr;
  if (plan.packs.empty()) {
    const ConvShape& shape = plan.conv.shape();
    PackConv(plan.conv.algorithm(), shape.weight, context->Input(kFilter)->data<float>(), scratch, device.pool());
    packed = scratch;
    scratch += plan.packed_floats;
  } else {
    packed = static_cast<const float*>(context->Packed(0).buffer->data());
  }
  const TileEpilogue epilogue =
      BindEpilogue(context->AttrAt<Epilogue>(kEpilogue), context->InputAt(kOperands), out.shape()[1]);
  plan.conv.Run(context->Input(kX)->data<float>(), packed, epilogue, out.mutable_data<float>(), scratch, device.pool());
}

}  // namespace

REGISTER_KERNEL_VARIANT(conv2d, cpu, auto, kX86, kFloat, kNHWC)
    .Plan(&PlanAuto)
    .Pack(&PackFilter)
    .Run(&Run)
    .Priority(10);
REGISTER_KERNEL_VARIANT(conv2d, cpu, direct, kX86, kFloat, kNHWC)
    .Plan(&PlanVariant<ConvAlgorithm::kDirect>)
    .Pack(&PackFilter)
    .Run(&Run);
REGISTER_KERNEL_VARIANT(conv2d, cpu, winograd2, kX86, kFloat, kNHWC)
    .Supports(&SupportsVariant<ConvAlgorithm::kWinograd2>)
    .Plan(&PlanVariant<ConvAlgorithm::kWinograd2>)
    .Pack(&PackFilter)
    .Run(&Run);
REGISTER_KERNEL_VARIANT(conv2d, cpu, winograd4, kX86, kFloat, kNHWC)
    .Supports(&SupportsVariant<ConvAlgorithm::kWinograd4>)
    .Plan(&PlanVariant<ConvAlgorithm::kWinograd4>)
    .Pack(&PackFilter)
    .Run(&Run);
REGISTER_KERNEL_VARIANT(conv2d, cpu, depthwise, kX86, kFloat, kNHWC)
    .Supports(&SupportsVariant<ConvAlgorithm::kDepthwise>)
    .Plan(&PlanVariant<ConvAlgorithm::kDepthwise>)
    .Pack(&PackFilter)
    .Run(&Run);

}  // namespace wherry::cpu
