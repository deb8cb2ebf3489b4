// conv3d of a channel each in f32, volumes with channels last: of each slice of the result, the slices that its window
// meets go through the depthwise convolution of images one after the other and add up where they are stored. They are
// read where they lie; as convolutions of images for each slice of the window (volume_slices_pass, which has all
// others) they would be padded and cut out first. What MViT pools queries, keys and values with: 25088 positions of 96
// channels, 3x3x3.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/cancellation.h"
#include "core/device_context.h"
#include "kernel/kernel_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/conv/ceil_divide.h"
#include "kernels/cpu/conv/depthwise.h"
#include "kernels/cpu/op_epilogue.h"
#include "op/infer/window.h"

namespace wherry::cpu {
namespace {

// Positions among the kernel's tensors and attributes.
constexpr size_t kX = 0;
constexpr size_t kFilter = 1;
constexpr size_t kOperands = 2;
constexpr size_t kEpilogue = 5;

// Of a filter [channels, 1, depth, height, width]: what one slice of it is.
ConvWeightShape SliceOf(const Shape& filter) { return {filter[0], 1, filter[3], filter[4], filter[0]}; }

struct Conv3dPlan : KernelPlan {
  explicit Conv3dPlan(DepthwisePlan plan) : slice(std::move(plan)) {}
  DepthwisePlan slice;
  int64_t volumes = 0;
  int64_t in_depth = 0;
  int64_t out_depth = 0;
  int64_t taps = 0;  // of the depth
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad = 0;
  int64_t packed_floats = 0;  // of the filter, and before it one slice of it, when it is not constant
  int64_t slice_floats = 0;
};

Support Supports(const KernelProblem& problem) {
  const MetaTensor& x = *problem.Input("x");
  const MetaTensor& filter = *problem.Input("filter");
  if (!filter.known()) return Support::No("needs a filter of known shape");
  const Shape shape = filter.shape();
  const bool one_each = x.rank_known && x.rank() == 5 && x.dims[1] == Dim(shape[0]) && shape[1] == 1 && shape[0] > 1 &&
                        problem.Attr<int>("groups") == shape[0];
  if (!one_each || shape.numel() == 0) return Support::No("needs one channel in and out for each group");
  if (problem.Attr<Epilogue>("epilogue").steps.size() == Epilogue::kMaxSteps) return Support::No("has too many steps");
  return Support::Yes();
}

std::shared_ptr<const KernelPlan> Plan(const KernelProblem& problem) {
  const TensorMeta x = problem.Input("x")->tensor_meta();
  const TensorMeta out = problem.Output().tensor_meta();
  const Shape filter = problem.Input("filter")->shape();
  using Numbers = std::vector<int64_t>;
  const WindowAttributes window =
      ParseWindow(3, problem.Attr<Numbers>("strides"), problem.Attr<Numbers>("paddings"),
                  problem.Attr<std::string>("padding_algorithm"), problem.Attr<Numbers>("dilations"));
  ConvShape s;
  s.weight = SliceOf(filter);
  s.batch = 1;
  s.in_height = x.shape[3];
  s.in_width = x.shape[4];
  s.stride_height = window.stride[1];
  s.stride_width = window.stride[2];
  s.dilation_height = window.dilation[1];
  s.dilation_width = window.dilation[2];
  const WindowAxis depth = ResolveWindowAxis(window, 0, x.shape[2], filter[2], false);
  const WindowAxis rows = ResolveWindowAxis(window, 1, s.in_height, filter[3], false);
  const WindowAxis columns = ResolveWindowAxis(window, 2, s.in_width, filter[4], false);
  s.pad_top = rows.pad_begin;
  s.pad_bottom = rows.pad_end;
  s.pad_left = columns.pad_begin;
  s.pad_right = columns.pad_end;
  s.in_pixel_stride = x.effective_pixel_stride();
  s.out_pixel_stride = out.effective_pixel_stride();
  auto plan = std::make_shared<Conv3dPlan>(DepthwisePlan(s, problem.threads()));
  plan->volumes = x.shape[0];
  plan->in_depth = x.shape[2];
  plan->out_depth = out.shape[2];
  plan->taps = filter[2];
  plan->stride = window.stride[0];
  plan->dilation = window.dilation[0];
  plan->pad = depth.pad_begin;
  if (problem.IsConstant("filter")) {
    plan->packs.push_back({kFilter, "depthwise3d"});
  } else {
    plan->slice_floats = PaddedColumns(s.weight.elements());
    plan->packed_floats = plan->taps * DepthwisePackedSize(s.weight);
    plan->scratch_bytes = static_cast<size_t>(plan->slice_floats + plan->packed_floats) * sizeof(float);
  }
  plan->algorithm = "depthwise, slice by slice";
  return plan;
}

size_t PackedBytes(const TensorMeta& filter, std::string_view /*format*/) {
  return static_cast<size_t>(filter.shape[2] * DepthwisePackedSize(SliceOf(filter.shape))) * sizeof(float);
}

// `slice` is room for one slice of the filter.
void PackSlices(const DenseTensor& filter, float* slice, float* packed) {
  const ConvWeightShape shape = SliceOf(filter.shape());
  const int64_t taps = filter.shape()[2];
  for (int64_t tap = 0; tap < taps; ++tap) {
    for (int64_t c = 0; c < shape.out_channels; ++c) {
      std::copy_n(filter.data<float>() + (c * taps + tap) * shape.taps(), shape.taps(), slice + c * shape.taps());
    }
    PackDepthwise(shape, slice, packed + tap * DepthwisePackedSize(shape));
  }
}

void Pack(const DenseTensor& filter, std::string_view /*format*/, void* packed) {
  std::vector<float> slice(static_cast<size_t>(SliceOf(filter.shape()).elements()));
  PackSlices(filter, slice.data(), static_cast<float*>(packed));
}

// The bias that the steps begin with, which the first slice takes; and the others, behind what the last adds to.
TileEpilogue FirstOf(const TileEpilogue& steps) {
  TileEpilogue first;
  if (steps.count() > 0 && steps.step(0).kind == TileEpilogue::Step::Kind::kBias) first.Bias(steps.step(0).data);
  return first;
}
TileEpilogue LastOf(const TileEpilogue& steps, const float* so_far, int64_t row_stride) {
  using Kind = TileEpilogue::Step::Kind;
  TileEpilogue last;
  last.Add(so_far, row_stride);
  for (int i = FirstOf(steps).count(); i < steps.count(); ++i) {
    const TileEpilogue::Step& step = steps.step(i);
    switch (step.kind) {
      case Kind::kFactor: last.Factor(step.factor); break;
      case Kind::kScale: last.Scale(step.data); break;
      case Kind::kBias: last.Bias(step.data); break;
      case Kind::kAdd: last.Add(step.data, step.row_stride); break;
      case Kind::kActivation: last.Activate(step.activation); break;
    }
  }
  return last;
}

void Run(KernelContext* context) {
  DenseTensor& out = *context->Output(0);
  if (out.numel() == 0) return;
  const Conv3dPlan& plan = context->plan<Conv3dPlan>();
  const ConvShape& s = plan.slice.shape;
  const CpuContext& device = context->device_as<CpuContext>();
  ThreadPool* const pool = device.pool();
  const float* const x = context->Input(kX)->data<float>();
  const float* packed = nullptr;
  if (plan.packs.empty()) {
    float* const scratch = static_cast<float*>(device.Scratch(plan.scratch_bytes));
    PackSlices(*context->Input(kFilter), scratch, scratch + plan.slice_floats);
    packed = scratch + plan.slice_floats;
  } else {
    packed = static_cast<const float*>(context->Packed(0).buffer->data());
  }
  const TileEpilogue all =
      BindEpilogue(context->AttrAt<Epilogue>(kEpilogue), context->InputAt(kOperands), out.shape()[1]);
  const int64_t in_slice = s.in_height * s.in_width * s.in_pixel_stride;
  const int64_t out_pixels = s.out_height() * s.out_width();
  const int64_t tap_floats = DepthwisePackedSize(s.weight);
  for (int64_t slice = 0; slice < plan.volumes * plan.out_depth; ++slice) {
    ThrowIfCancelled();
    // Of the first tap's slice, and the taps that meet one.
    const int64_t origin = slice % plan.out_depth * plan.stride - plan.pad;
    const auto tap_at = [&](int64_t depth) {
      return std::clamp<int64_t>(CeilDivide(std::max<int64_t>(depth - origin, 0), plan.dilation), 0, plan.taps);
    };
    const int64_t begin = tap_at(0);
    const int64_t end = tap_at(plan.in_depth);
    const float* const from = x + (slice / plan.out_depth * plan.in_depth + origin) * in_slice;
    float* const to = out.mutable_data<float>() + slice * out_pixels * s.out_pixel_stride;
    const TileEpilogue steps = all.FromRow(slice * out_pixels);
    if (begin >= end) {
      for (int64_t i = 0; i < out_pixels; ++i) std::fill_n(to + i * s.out_pixel_stride, s.weight.out_channels, 0.0F);
      ApplyEpilogue(steps, to, s.out_pixel_stride, to, s.out_pixel_stride, out_pixels, s.weight.out_channels, 0, 0);
    }
    for (int64_t tap = begin; tap < end; ++tap) {
      TileEpilogue epilogue;
      if (begin + 1 == end) {
        epilogue = steps;
      } else if (tap == begin) {
        epilogue = FirstOf(steps);
      } else if (tap + 1 == end) {
        epilogue = LastOf(steps, to, s.out_pixel_stride);
      } else {
        epilogue.Add(to, s.out_pixel_stride);
      }
      RunDepthwise(plan.slice, from + tap * plan.dilation * in_slice, packed + tap * tap_floats, epilogue, to, pool);
    }
  }
}

}  // namespace

REGISTER_KERNEL_VARIANT(conv3d, cpu, depthwise, kNative, kFloat, kNHWC)
    .Supports(&Supports)
    .Plan(&Plan)
    .Pack(&PackedBytes, &Pack)
    .Run(&Run)
    .PixelStrides();

}  // namespace wherry::cpu
