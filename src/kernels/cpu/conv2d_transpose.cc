// conv2d_transpose in f32 on NHWC images.
#include <algorithm>
#include <charconv>
#include <memory>
#include <string_view>

#include "base/check.h"
#include "core/device_context.h"
#include "kernel/conv_window.h"
#include "kernel/kernel_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/conv/transposed.h"
#include "kernels/cpu/conv/transposed_blocks.h"
#include "kernels/cpu/op_epilogue.h"
#include "op/infer/window.h"

namespace wherry::cpu {
namespace {

// Positions among the kernel's tensors and attributes.
constexpr size_t kX = 0;
constexpr size_t kFilter = 1;
constexpr size_t kOperands = 2;
constexpr size_t kEpilogue = 7;

constexpr std::string_view kFormat = "conv_transposed:";  // then the groups

struct Conv2dTransposePlan : KernelPlan {
  Conv2dTransposePlan(const TransposedShape& shape, bool dense_operands, int threads)
      : conv(shape, dense_operands, threads) {}
  TransposedPlan conv;
  int64_t packed_floats = 0;  // in front of the scratch, when the filter is not constant
  int64_t pack_floats = 0;    // behind them, to pack it
};

TransposedWeightShape WeightShapeOf(const Shape& filter, int64_t groups) {
  return {filter[0], filter[1], filter[2], filter[3], groups};
}

TransposedShape ShapeOf(const KernelProblem& problem) {
  const TensorMeta x = problem.Input("x")->tensor_meta();
  const TensorMeta out = problem.Output().tensor_meta();
  const auto& output_padding = problem.Attr<std::vector<int64_t>>("output_padding");
  const WindowAttributes window = ConvWindow(problem);
  TransposedShape s;
  s.weight = WeightShapeOf(problem.Input("filter")->shape(), problem.Attr<int64_t>("groups"));
  s.batch = x.shape[0];
  s.in_height = x.shape[2];
  s.in_width = x.shape[3];
  s.stride_height = window.stride[0];
  s.stride_width = window.stride[1];
  s.dilation_height = window.dilation[0];
  s.dilation_width = window.dilation[1];
  s.out_height = out.shape[2];
  s.out_width = out.shape[3];
  const bool more = !output_padding.empty();
  s.pad_top =
      ResolveTransposedAxis(window, 0, s.in_height, s.weight.kernel_height, more ? output_padding[0] : 0, s.out_height)
          .pad_begin;
  s.pad_left =
      ResolveTransposedAxis(window, 1, s.in_width, s.weight.kernel_width, more ? output_padding[1] : 0, s.out_width)
          .pad_begin;
  s.in_pixel_stride = x.effective_pixel_stride();
  s.out_pixel_stride = out.effective_pixel_stride();
  return s;
}

Support Supports(const KernelProblem& problem) {
  return problem.Input("filter")->known() ? Support::Yes() : Support::No("needs a filter of known shape");
}

std::shared_ptr<const KernelPlan> Plan(const KernelProblem& problem) {
  const auto& operands = problem.InputList("operands");
  const bool dense = std::all_of(operands.begin(), operands.end(), [&](const MetaTensor* operand) {
    return operand->pixel_stride == 0 || operand->rank() != 4 || operand->pixel_stride == operand->shape()[1];
  });
  auto plan = std::make_shared<Conv2dTransposePlan>(ShapeOf(problem), dense, problem.threads());
  const TransposedWeightShape& weight = plan->conv.shape.weight;
  if (problem.IsConstant("filter")) {
    plan->packs.push_back({kFilter, StrCat(kFormat, weight.groups)});
  } else {
    plan->packed_floats = RoundUp(TransposedPackedSize(weight), kLineFloats);
    plan->pack_floats = TransposedPackScratch(weight);
  }
  plan->scratch_bytes =
      static_cast<size_t>(plan->packed_floats + std::max(plan->pack_floats, plan->conv.scratch_floats())) *
      sizeof(float);
  plan->algorithm = plan->conv.DebugString();
  return plan;
}

TransposedWeightShape ShapeOfFormat(const Shape& filter, std::string_view format) {
  int64_t groups = 0;
  const char* const end = format.data() + format.size();
  const bool ours = format.substr(0, kFormat.size()) == kFormat;
  const auto parsed = std::from_chars(format.data() + (ours ? kFormat.size() : 0), end, groups);
  WHERRY_ENFORCE(ours && parsed.ec == std::errc() && parsed.ptr == end && groups > 0, kInvalidArgument, "'", format,
                 "' is no packed form of a transposed convolution's filter");
  return WeightShapeOf(filter, groups);
}

size_t PackedFilterBytes(const TensorMeta& filter, std::string_view format) {
  return static_cast<size_t>(TransposedPackedSize(ShapeOfFormat(filter.shape, format))) * sizeof(float);
}

void PackFilter(const DenseTensor& filter, std::string_view format, void* packed) {
  const TransposedWeightShape shape = ShapeOfFormat(filter.shape(), format);
  const auto scratch = HostAllocator().Allocate(static_cast<size_t>(TransposedPackScratch(shape)) * sizeof(float));
  PackTransposed(shape, filter.data<float>(), static_cast<float*>(packed), static_cast<float*>(scratch->data()),
                 nullptr);
}

void Run(KernelContext* context) {
  DenseTensor& out = *context->Output(0);
  if (out.numel() == 0) return;
  const auto& plan = context->plan<Conv2dTransposePlan>();
  const CpuContext& device = context->device_as<CpuContext>();
  float* scratch = static_cast<float*>(device.Scratch(plan.scratch_bytes));
  const float* packed = nullptr;
  if (plan.packs.empty()) {
    packed = scratch;
    scratch += plan.packed_floats;
    PackTransposed(plan.conv.shape.weight, context->Input(kFilter)->data<float>(), scratch - plan.packed_floats,
                   scratch, device.pool());
  } else {
    packed = static_cast<const float*>(context->Packed(0).buffer->data());
  }
  const TileEpilogue epilogue =
      BindEpilogue(context->AttrAt<Epilogue>(kEpilogue), context->InputAt(kOperands), out.shape()[1]);
  RunTransposed(plan.conv, context->Input(kX)->data<float>(), packed, epilogue, out.mutable_data<float>(), scratch,
                device.pool());
}

}  // namespace

REGISTER_KERNEL_VARIANT(conv2d_transpose, cpu, products, kNative, kFloat, kNHWC)
    .Supports(&Supports)
    .Plan(&Plan)
    .Pack(&PackedFilterBytes, &PackFilter)
    .Run(&Run)
    .Priority(10)
    .PixelStrides();

}  // namespace wherry::cpu
