// grid_sample of f32 images. Plain ones: the taps of some pixels of the result once, then those pixels of all channels.
// Channels last: pixel by pixel.
#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "base/checked_math.h"
#include "base/thread_pool.h"
#include "core/device_context.h"
#include "kernel/kernel_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/resample/blend_pixels.h"
#include "kernels/cpu/resample/sample_points.h"
#include "op/infer/grid_taps.h"

namespace wherry::cpu {
namespace {

// The taps of a block of pixels: with their weights 32 KB.
constexpr int64_t kBlockTaps = 4096;

struct GridSamplePlan : KernelPlan {
  GridRule rule{};
  int64_t batch, channels, height, width;
  int64_t pixels;  // of a result
  int64_t block;   // pixels at a time
  int64_t in_pixel_stride, out_pixel_stride;
};

Support Supports(const KernelProblem& problem) {
  const MetaTensor& x = *problem.Input("x");
  const MetaTensor& grid = *problem.Input("grid");
  if (!x.rank_known || x.rank() != 4) return Support::No("needs an image of rank 4");
  if (grid.dtype != DataType::kFloat) return Support::No("needs a grid of f32");
  return Support::Yes();
}

std::shared_ptr<const KernelPlan> Plan(const KernelProblem& problem) {
  const TensorMeta image = problem.Input("x")->tensor_meta();
  const TensorMeta result = problem.Output().tensor_meta();
  const Shape& x = image.shape;
  const Shape& out = result.shape;
  auto plan = std::make_shared<GridSamplePlan>();
  plan->rule = ParseGridRule(problem.Attr<std::string>("mode"), problem.Attr<std::string>("padding_mode"),
                             problem.Attr<bool>("align_corners"));
  plan->batch = x[0];
  plan->channels = x[1];
  plan->height = x[2];
  plan->width = x[3];
  plan->pixels = out[2] * out[3];
  plan->block = kBlockTaps / (plan->rule.taps() * plan->rule.taps());
  plan->in_pixel_stride = image.effective_pixel_stride();
  plan->out_pixel_stride = result.effective_pixel_stride();
  WHERRY_ENFORCE(out.numel() == 0 || x[2] * x[3] > 0, kInvalidArgument, "x ", x.DebugString(),
                 " has no elements to sample");
  CheckedCast<int32_t>(x[2] * x[3], "the elements of an image that grid_sample reads");
  return plan;
}

// The taps of `count` pixels, whose coordinates lie from `grid` on: the last axis' first.
void FillTaps(const GridSamplePlan& plan, const float* grid, int64_t count, int32_t* index, float* weight) {
  for (int64_t p = 0; p < count; ++p) {
    const GridTaps columns = GridTapsAt(plan.rule, static_cast<double>(grid[2 * p]), plan.width);
    const GridTaps rows = GridTapsAt(plan.rule, static_cast<double>(grid[2 * p + 1]), plan.height);
    int64_t at = p;
    for (size_t y = 0; y < static_cast<size_t>(rows.count); ++y) {
      for (size_t x = 0; x < static_cast<size_t>(columns.count); ++x, at += plan.block) {
        const bool inside = rows.element[y] >= 0 && columns.element[x] >= 0;
        index[at] = inside ? static_cast<int32_t>(rows.element[y] * plan.width + columns.element[x]) : -1;
        weight[at] = static_cast<float>(rows.weight[y] * columns.weight[x]);
      }
    }
  }
}

void Run(KernelContext* context) {
  DenseTensor& out = *context->Output(0);
  if (out.numel() == 0) return;
  const GridSamplePlan& plan = context->plan<GridSamplePlan>();
  const float* const x = context->Input(0)->data<float>();
  const float* const grid = context->Input(1)->data<float>();
  float* const to = out.mutable_data<float>();
  const int64_t plane = plan.height * plan.width;
  const int64_t blocks = (plan.pixels + plan.block - 1) / plan.block;
  const auto run = [&](int64_t begin, int64_t end) {
    std::array<int32_t, kBlockTaps> index;
    std::array<float, kBlockTaps> weight;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t n = i / blocks;
      const int64_t first = i % blocks * plan.block;
      const int64_t count = std::min(plan.block, plan.pixels - first);
      FillTaps(plan, grid + (n * plan.pixels + first) * 2, count, index.data(), weight.data());
      const PointTaps taps{count, plan.rule.taps() * plan.rule.taps(), plan.block, index.data(), weight.data()};
      SamplePoints(taps, x + n * plan.channels * plane, plane, plan.channels,
                   to + n * plan.channels * plan.pixels + first, plan.pixels);
    }
  };
  ParallelFor(context->device_as<CpuContext>().pool(), plan.batch * blocks, 1, run);
}

// What one result takes along one axis.
int64_t WeightedTaps(const GridTaps& taps, WeightedIndex* to) {
  int64_t count = 0;
  for (size_t i = 0; i < static_cast<size_t>(taps.count); ++i) {
    if (taps.element[i] < 0) continue;
    to[count++] = {static_cast<int32_t>(taps.element[i]), static_cast<float>(taps.weight[i])};
  }
  return count;
}

void RunPixels(KernelContext* context) {
  DenseTensor& out = *context->Output(0);
  if (out.numel() == 0) return;
  const GridSamplePlan& plan = context->plan<GridSamplePlan>();
  const float* const x = context->Input(0)->data<float>();
  const float* const grid = context->Input(1)->data<float>();
  float* const to = out.mutable_data<float>();
  const int64_t row_stride = plan.width * plan.in_pixel_stride;
  const auto run = [&](int64_t begin, int64_t end) {
    std::array<WeightedIndex, 4> rows;
    std::array<WeightedIndex, 4> columns;
    for (int64_t p = begin; p < end; ++p) {
      const GridTaps across = GridTapsAt(plan.rule, static_cast<double>(grid[2 * p]), plan.width);
      const GridTaps down = GridTapsAt(plan.rule, static_cast<double>(grid[2 * p + 1]), plan.height);
      const PixelCross cross{rows.data(), WeightedTaps(down, rows.data()), columns.data(),
                             WeightedTaps(across, columns.data())};
      BlendPixels(cross, x + p / plan.pixels * plan.height * row_stride, row_stride, plan.in_pixel_stride,
                  plan.channels, 1.0F, to + p * plan.out_pixel_stride);
    }
  };
  // Some 5 us of work, which is 20 ns for a pixel's taps alone.
  ParallelFor(context->device_as<CpuContext>().pool(), plan.batch * plan.pixels, 128, run);
}

}  // namespace

REGISTER_KERNEL_VARIANT(grid_sample, cpu, pixels, kNative, kFloat, kNHWC)
    .Supports(&Supports)
    .Plan(&Plan)
    .Run(&RunPixels)
    .PixelStrides();
REGISTER_KERNEL_VARIANT(grid_sample, cpu, points, kNative, kFloat, kNCHW).Supports(&Supports).Plan(&Plan).Run(&Run);

}  // namespace wherry::cpu
