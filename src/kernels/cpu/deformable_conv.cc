// deformable_conv in f32 on plain images: what the moved taps read is written as the panels that the matrix product
// takes, some pixels at a time, and multiplied by the filter where it lies.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/device_context.h"
#include "kernel/conv_window.h"
#include "kernel/kernel_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/gemm/gemm.h"
#include "op/infer/window.h"

namespace wherry::cpu {
namespace {

// Two panels for each thread: with 256 channels and 9 taps 1.2 MB, about a second-level cache.
constexpr int64_t kThreadPixels = 2 * kPanelWidth;

struct DeformablePlan : KernelPlan {
  int64_t batch, channels, height, width;  // of x
  int64_t out_channels, group_in, groups, deformable_groups;
  int64_t kernel_height, kernel_width;
  int64_t out_height, out_width;
  int64_t pad_top, pad_left;
  int64_t block;  // pixels at a time
  WindowAttributes window;

  int64_t taps() const { return kernel_height * kernel_width; }
  int64_t pixels() const { return out_height * out_width; }
};

std::shared_ptr<const KernelPlan> Plan(const KernelProblem& problem) {
  auto plan = std::make_shared<DeformablePlan>();
  const Shape x = problem.Input("x")->shape();
  const Shape filter = problem.Input("filter")->shape();
  plan->batch = x[0];
  plan->channels = x[1];
  plan->height = x[2];
  plan->width = x[3];
  plan->out_channels = filter[0];
  plan->group_in = filter[1];
  plan->kernel_height = filter[2];
  plan->kernel_width = filter[3];
  plan->groups = problem.Attr<int>("groups");
  plan->deformable_groups = problem.Attr<int>("deformable_groups");
  plan->window = ConvWindow(problem);
  const WindowAxis rows = ResolveWindowAxis(plan->window, 0, plan->height, plan->kernel_height, false);
  const WindowAxis columns = ResolveWindowAxis(plan->window, 1, plan->width, plan->kernel_width, false);
  plan->out_height = rows.output;
  plan->out_width = columns.output;
  plan->pad_top = rows.pad_begin;
  plan->pad_left = columns.pad_begin;
  plan->block = kThreadPixels * problem.threads();
  plan->scratch_bytes = static_cast<size_t>(plan->group_in * plan->taps() * plan->block) * sizeof(float);
  return plan;
}

// Where one tap reads for the pixels of a panel: the pixels around the place and their shares, the mask in them.
struct Samples {
  int64_t at[4][kPanelWidth];
  float share[4][kPanelWidth];
  bool inside[kPanelWidth];
  float outside[kPanelWidth];  // what there is to read beside the image: 0, or NaN when the mask is none
};

class DeformableConv {
 public:
  DeformableConv(const DeformablePlan& plan, const float* offset, const float* mask)
      : plan_(plan), offset_(offset), mask_(mask) {}

  // The panel of pixels [first, first + count) of an image, for the channels of a group: [group_in * taps][64].
  void FillPanel(const float* x, int64_t image, int64_t group, int64_t first, int64_t count, float* panel) const {
    const int64_t plane = plan_.height * plan_.width;
    const int64_t begin = group * plan_.group_in;
    Samples samples;
    for (int64_t tap = 0; tap < plan_.taps(); ++tap) {
      int64_t known = -1;
      for (int64_t i = 0; i < plan_.group_in; ++i) {
        const int64_t channel = begin + i;
        const int64_t deformable_group = channel * plan_.deformable_groups / plan_.channels;
        if (deformable_group != known) {
          Place(image * plan_.deformable_groups + deformable_group, tap, first, count, &samples);
          known = deformable_group;
        }
        const float* const from = x + (image * plan_.channels + channel) * plane;
        float* const to = panel + (i * plan_.taps() + tap) * kPanelWidth;
        for (int64_t p = 0; p < count; ++p) {
          float sum = samples.outside[p];
          if (samples.inside[p]) {
            sum = samples.share[0][p] * from[samples.at[0][p]] + samples.share[1][p] * from[samples.at[1][p]] +
                  samples.share[2][p] * from[samples.at[2][p]] + samples.share[3][p] * from[samples.at[3][p]];
          }
          to[p] = sum;
        }
        std::fill(to + count, to + kPanelWidth, 0.0F);
      }
    }
  }

 private:
  void Place(int64_t group, int64_t tap, int64_t first, int64_t count, Samples* samples) const {
    const int64_t moved = group * plan_.taps() + tap;
    const float* const rows = offset_ + moved * 2 * plan_.pixels();
    const float* const columns = rows + plan_.pixels();
    for (int64_t p = 0; p < count; ++p) {
      const int64_t pixel = first + p;
      const int64_t row = pixel / plan_.out_width * plan_.window.stride[0] - plan_.pad_top +
                          tap / plan_.kernel_width * plan_.window.dilation[0];
      const int64_t column = pixel % plan_.out_width * plan_.window.stride[1] - plan_.pad_left +
                             tap % plan_.kernel_width * plan_.window.dilation[1];
      const double y = static_cast<double>(row) + double{rows[pixel]};
      const double x = static_cast<double>(column) + double{columns[pixel]};
      const float factor = mask_ == nullptr ? 1.0F : mask_[moved * plan_.pixels() + pixel];
      samples->outside[p] = 0.0F * factor;
      samples->inside[p] =
          y > -1.0 && y < static_cast<double>(plan_.height) && x > -1.0 && x < static_cast<double>(plan_.width);
      if (!samples->inside[p]) continue;
      const double top = std::floor(y);
      const double left = std::floor(x);
      // A pixel beside the image counts nothing; its neighbour inside is read instead.
      const auto ends = [](double begin, double position, int64_t extent, int64_t(&at)[2], double(&share)[2]) {
        at[0] = static_cast<int64_t>(begin);
        at[1] = at[0] + 1;
        share[0] = 1.0 - (position - begin);
        share[1] = position - begin;
        if (at[0] < 0) {
          at[0] = at[1];
          share[0] = 0.0;
        }
        if (at[1] >= extent) {
          at[1] = at[0];
          share[1] = 0.0;
        }
      };
      int64_t y_at[2];
      int64_t x_at[2];
      double y_share[2];
      double x_share[2];
      ends(top, y, plan_.height, y_at, y_share);
      ends(left, x, plan_.width, x_at, x_share);
      for (int i = 0; i < 4; ++i) {
        samples->at[i][p] = y_at[i / 2] * plan_.width + x_at[i % 2];
        samples->share[i][p] = static_cast<float>(y_share[i / 2] * x_share[i % 2]) * factor;
      }
    }
  }

  const DeformablePlan& plan_;
  const float* offset_;
  const float* mask_;
};

void Run(KernelContext* context) {
  DenseTensor& out = *context->Output(0);
  if (out.numel() == 0) return;
  const DeformablePlan& plan = context->plan<DeformablePlan>();
  const CpuContext& device = context->device_as<CpuContext>();
  const float* const x = context->Input(0)->data<float>();
  const float* const filter = context->Input(2)->data<float>();
  const DenseTensor* const mask = context->Input(3);
  const DeformableConv conv(plan, context->Input(1)->data<float>(), mask == nullptr ? nullptr : mask->data<float>());
  float* const panels = static_cast<float*>(device.Scratch(plan.scratch_bytes));
  const int64_t depth = plan.group_in * plan.taps();
  const int64_t group_out = plan.out_channels / plan.groups;
  for (int64_t image = 0; image < plan.batch; ++image) {
    for (int64_t group = 0; group < plan.groups; ++group) {
      float* const result = out.mutable_data<float>() + (image * plan.out_channels + group * group_out) * plan.pixels();
      for (int64_t first = 0; first < plan.pixels(); first += plan.block) {
        const int64_t count = std::min(plan.block, plan.pixels() - first);
        ParallelFor(device.pool(), (count + kPanelWidth - 1) / kPanelWidth, 1, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const int64_t at = i * kPanelWidth;
            conv.FillPanel(x, image, group, first + at, std::min(kPanelWidth, count - at), panels + at * depth);
          }
        });
        GemmPacked({filter + group * group_out * depth, depth, 1}, panels, result + first, plan.pixels(), group_out,
                   count, depth, TileEpilogue(), device.pool());
      }
    }
  }
}

}  // namespace

REGISTER_KERNEL_VARIANT(deformable_conv, cpu, panels, kNative, kFloat, kNCHW).Plan(&Plan).Run(&Run);

}  // namespace wherry::cpu
