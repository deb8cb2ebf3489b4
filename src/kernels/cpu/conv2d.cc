// conv2d in f32 on NHWC images: the algorithm that fits the shape ("auto"), and each algorithm as a variant of its own
// for whoever measures instead. "plain" takes plain images, as they come where nothing is known of them ahead, and lays
// them out for itself.
#include <algorithm>
#include <memory>
#include <utility>

#include "core/device_context.h"
#include "kernel/kernel_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/conv/conv.h"
#include "kernels/cpu/conv/conv_problem.h"
#include "kernels/cpu/movement/strided_copy.h"
#include "kernels/cpu/op_epilogue.h"
#include "kernels/cpu/tensor_loops.h"

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
  // In front of that, when images come plain: x and the result as NHWC. In whole cache lines.
  int64_t x_floats = 0;
  int64_t result_floats = 0;
};

int64_t WholeLines(int64_t floats) { return (floats + 15) / 16 * 16; }

TensorMeta ChannelsLast(TensorMeta meta) {
  meta.layout = DataLayout::kNHWC;
  return meta;
}

void CopyLaidOut(const TensorMeta& from_meta, const float* from, const TensorMeta& to_meta, float* to,
                 ThreadPool* pool) {
  StridedCopy(LoopsOver(to_meta, {&from_meta, 1}), from, to, sizeof(float), pool);
}

template <ConvAlgorithm kAlgorithm>
Support SupportsVariant(const KernelProblem& problem) {
  if (!problem.Input("filter")->known()) return Support::No("needs a filter of known shape");
  if (CanRun(kAlgorithm, PartialConvShapeOf(problem))) return Support::Yes();
  return Support::No(
      kAlgorithm == ConvAlgorithm::kDepthwise
          ? "needs groups of 1, 2, 4 or 8 channels, as many out as in, or 16 and more of one with 2 to 15 outputs"
          : "needs a 3x3 kernel, strides and dilations of 1, and one group");
}

Support SupportsPlain(const KernelProblem& problem) {
  if (!problem.Input("filter")->known()) return Support::No("needs a filter of known shape");
  const auto& steps = problem.Attr<Epilogue>("epilogue").steps;
  const bool adds = std::any_of(steps.begin(), steps.end(),
                                [](const EpilogueStep& step) { return step.kind == EpilogueStep::Kind::kAdd; });
  return adds ? Support::No("adds no images, which come plain") : Support::Yes();
}

std::shared_ptr<Conv2dPlan> MakePlan(const KernelProblem& problem, const ConvShape& shape, ConvAlgorithm algorithm) {
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

std::shared_ptr<Conv2dPlan> MakeAutoPlan(const KernelProblem& problem) {
  const ConvShape shape = ConvShapeOf(problem);
  ConvAlgorithm algorithm = ChooseConvAlgorithm(shape, problem.threads());
  // A filter that is transformed at every run costs more than Winograd saves on all but large images.
  const bool winograd = algorithm == ConvAlgorithm::kWinograd2 || algorithm == ConvAlgorithm::kWinograd4;
  if (winograd && !problem.IsConstant("filter")) algorithm = ConvAlgorithm::kDirect;
  return MakePlan(problem, shape, algorithm);
}

std::shared_ptr<const KernelPlan> PlanAuto(const KernelProblem& problem) { return MakeAutoPlan(problem); }

std::shared_ptr<const KernelPlan> PlanPlain(const KernelProblem& problem) {
  std::shared_ptr<Conv2dPlan> plan = MakeAutoPlan(problem);
  plan->x_floats = WholeLines(problem.Input("x")->tensor_meta().shape.numel());
  plan->result_floats = WholeLines(problem.Output().tensor_meta().shape.numel());
  plan->scratch_bytes += static_cast<size_t>(plan->x_floats + plan->result_floats) * sizeof(float);
  return plan;
}

template <ConvAlgorithm kAlgorithm>
std::shared_ptr<const KernelPlan> PlanVariant(const KernelProblem& problem) {
  return MakePlan(problem, ConvShapeOf(problem), kAlgorithm);
}

void Run(KernelContext* context) {
  DenseTensor& out = *context->Output(0);
  if (out.numel() == 0) return;
  const Conv2dPlan& plan = context->plan<Conv2dPlan>();
  const CpuContext& device = context->device_as<CpuContext>();
  float* scratch = static_cast<float*>(device.Scratch(plan.scratch_bytes));
  const DenseTensor& x = *context->Input(kX);
  const float* image = x.data<float>();
  float* result = out.mutable_data<float>();
  const bool plain = plan.result_floats > 0;
  if (plain) {
    CopyLaidOut(x.meta(), image, ChannelsLast(x.meta()), scratch, device.pool());
    image = scratch;
    result = scratch + plan.x_floats;
    scratch = result + plan.result_floats;
  }
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
  plan.conv.Run(image, packed, epilogue, result, scratch, device.pool());
  if (plain) CopyLaidOut(ChannelsLast(out.meta()), result, out.meta(), out.mutable_data<float>(), device.pool());
}

}  // namespace

REGISTER_KERNEL_VARIANT(conv2d, cpu, auto, kNative, kFloat, kNHWC)
    .Plan(&PlanAuto)
    .Pack(&PackedConvFilterBytes, &PackConvFilter)
    .Run(&Run)
    .Priority(10)
    .PixelStrides();
REGISTER_KERNEL_VARIANT(conv2d, cpu, plain, kNative, kFloat, kNCHW)
    .Supports(&SupportsPlain)
    .Plan(&PlanPlain)
    .Pack(&PackedConvFilterBytes, &PackConvFilter)
    .Run(&Run);
REGISTER_KERNEL_VARIANT(conv2d, cpu, direct, kNative, kFloat, kNHWC)
    .Plan(&PlanVariant<ConvAlgorithm::kDirect>)
    .Pack(&PackedConvFilterBytes, &PackConvFilter)
    .Run(&Run)
    .PixelStrides();
REGISTER_KERNEL_VARIANT(conv2d, cpu, winograd2, kNative, kFloat, kNHWC)
    .Supports(&SupportsVariant<ConvAlgorithm::kWinograd2>)
    .Plan(&PlanVariant<ConvAlgorithm::kWinograd2>)
    .Pack(&PackedConvFilterBytes, &PackConvFilter)
    .Run(&Run)
    .PixelStrides();
REGISTER_KERNEL_VARIANT(conv2d, cpu, winograd4, kNative, kFloat, kNHWC)
    .Supports(&SupportsVariant<ConvAlgorithm::kWinograd4>)
    .Plan(&PlanVariant<ConvAlgorithm::kWinograd4>)
    .Pack(&PackedConvFilterBytes, &PackConvFilter)
    .Run(&Run)
    .PixelStrides();
REGISTER_KERNEL_VARIANT(conv2d, cpu, depthwise, kNative, kFloat, kNHWC)
    .Supports(&SupportsVariant<ConvAlgorithm::kDepthwise>)
    .Plan(&PlanVariant<ConvAlgorithm::kDepthwise>)
    .Pack(&PackedConvFilterBytes, &PackConvFilter)
    .Run(&Run)
    .PixelStrides();

}  // namespace wherry::cpu
