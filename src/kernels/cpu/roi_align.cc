// roi_align of f32 images whose channels lie together: the means of samples, which are weighted sums of the pixels
// where some rows and columns cross, or the largest of their terms.
#include <algorithm>
#include <memory>
#include <string>

#include "base/checked_math.h"
#include "base/thread_pool.h"
#include "core/device_context.h"
#include "kernel/kernel_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/resample/blend_pixels.h"
#include "op/infer/roi_samples.h"

namespace wherry::cpu {
namespace {

struct RoiAlignPlan : KernelPlan {
  int64_t batch, channels, height, width;  // of x
  int64_t in_pixel_stride, out_pixel_stride;
  int64_t rois, pooled_height, pooled_width;
  int64_t ratio;
  double spatial_scale;
  bool aligned;
  bool takes_largest;
  // Pixels that a part meets along an axis, at most.
  int64_t most_rows, most_columns;
  int64_t tasks;

  int64_t task_pixels() const { return most_rows + most_columns; }
};

Support Supports(const KernelProblem& problem) {
  if (problem.Input("rois")->dtype != DataType::kFloat) return Support::No("needs regions of f32");
  for (const char* name : {"batch_index", "rois_num"}) {
    const MetaTensor* const numbers = problem.Input(name);
    if (numbers != nullptr && numbers->dtype != DataType::kInt32 && numbers->dtype != DataType::kInt64) {
      return Support::No("needs images as i32 or i64");
    }
  }
  return Support::Yes();
}

std::shared_ptr<const KernelPlan> Plan(const KernelProblem& problem) {
  const TensorMeta x = problem.Input("x")->tensor_meta();
  auto plan = std::make_shared<RoiAlignPlan>();
  plan->batch = x.shape[0];
  plan->channels = x.shape[1];
  plan->height = x.shape[2];
  plan->width = x.shape[3];
  plan->in_pixel_stride = x.effective_pixel_stride();
  plan->out_pixel_stride = problem.Output().tensor_meta().effective_pixel_stride();
  plan->rois = problem.Input("rois")->shape()[0];
  plan->pooled_height = problem.Attr<int64_t>("pooled_height");
  plan->pooled_width = problem.Attr<int64_t>("pooled_width");
  plan->ratio = problem.Attr<int64_t>("sampling_ratio");
  plan->spatial_scale = static_cast<double>(problem.Attr<float>("spatial_scale"));
  plan->aligned = problem.Attr<bool>("aligned");
  plan->takes_largest = problem.Attr<std::string>("mode") == "max";
  // Without a ratio a part's samples go upwards by half a pixel to one: each pixel is met, for means, once.
  const auto most = [&plan](int64_t extent) {
    if (plan->ratio > 0) return CheckedMul(plan->ratio, int64_t{2}, "sampling_ratio");
    return plan->takes_largest ? 4 * extent + 8 : extent;
  };
  plan->most_rows = most(plan->height);
  plan->most_columns = most(plan->width);
  plan->tasks = std::max<int64_t>(1, std::min<int64_t>(plan->rois, problem.threads() == 1 ? 1 : 4 * problem.threads()));
  const int64_t pixels = CheckedMul(plan->task_pixels(), plan->tasks, "scratch memory of roi_align");
  plan->scratch_bytes = static_cast<size_t>(pixels) * sizeof(WeightedIndex);
  return plan;
}

// Pixels along an axis with the weights of all samples that meet them.
class WeightedPixels {
 public:
  WeightedPixels(WeightedIndex* pixels, bool merges) : pixels_(pixels), merges_(merges) {}

  void Add(int64_t index, double weight) {
    // Samples that follow one another share one of their two pixels, or both.
    for (int64_t i = merges_ ? std::max<int64_t>(0, count_ - 2) : count_; i < count_; ++i) {
      if (pixels_[i].index != index) continue;
      pixels_[i].weight += static_cast<float>(weight);
      return;
    }
    pixels_[count_++] = {static_cast<int32_t>(index), static_cast<float>(weight)};
  }
  void Add(const RoiSample& sample) {
    Add(sample.low, sample.low_weight);
    Add(sample.high, sample.high_weight);
  }
  int64_t count() const { return count_; }

 private:
  WeightedIndex* const pixels_;
  const bool merges_;
  int64_t count_ = 0;
};

int64_t IntAt(const DenseTensor& tensor, int64_t i) {
  return tensor.dtype() == DataType::kInt32 ? tensor.data<int32_t>()[i] : tensor.data<int64_t>()[i];
}

// The regions' images as ref checks them.
void CheckImages(const RoiAlignPlan& plan, const DenseTensor* batch_index, const DenseTensor* rois_num) {
  int64_t count = plan.rois;
  if (batch_index != nullptr) {
    count = batch_index->numel();
  } else if (rois_num != nullptr) {
    count = 0;
    for (int64_t n = 0; n < rois_num->numel(); ++n) {
      const int64_t here = IntAt(*rois_num, n);
      WHERRY_ENFORCE(here >= 0 && here <= plan.rois - count, kInvalidArgument, "rois_num gives image ", n, " ", here,
                     " regions of ", plan.rois);
      count += here;
    }
  }
  WHERRY_ENFORCE(count == plan.rois, kInvalidArgument, "there are images for ", count, " regions, expected ",
                 plan.rois);
}

int64_t ImageOf(const RoiAlignPlan& plan, int64_t roi, const DenseTensor* batch_index, const DenseTensor* rois_num) {
  int64_t image = 0;
  if (batch_index != nullptr) {
    image = IntAt(*batch_index, roi);
  } else if (rois_num != nullptr) {
    for (int64_t end = IntAt(*rois_num, 0); roi >= end; end += IntAt(*rois_num, image)) ++image;
  }
  WHERRY_ENFORCE(image >= 0 && image < plan.batch, kInvalidArgument, "a region lies in image ", image, " of ",
                 plan.batch);
  return image;
}

// One region: `image` and `to` are its image's and its result's first pixel.
void AlignRegion(const RoiAlignPlan& plan, const float* corners, const float* image, float* to,
                 WeightedIndex* scratch) {
  const auto corner = [&](int i) {
    return static_cast<double>(corners[i]) * plan.spatial_scale - (plan.aligned ? 0.5 : 0.0);
  };
  const auto part = [&](int i, int64_t parts) {
    const double length = corner(i + 2) - corner(i);
    return (plan.aligned ? length : std::max(length, 1.0)) / static_cast<double>(parts);
  };
  const double part_height = part(1, plan.pooled_height);
  const double part_width = part(0, plan.pooled_width);
  WeightedIndex* const columns = scratch + plan.most_rows;
  for (int64_t h = 0; h < plan.pooled_height; ++h) {
    WeightedPixels rows(scratch, !plan.takes_largest);
    const double row_samples = ForEachRoiSample(corner(1) + static_cast<double>(h) * part_height, part_height,
                                                plan.ratio, plan.height, [&](const RoiSample& s) { rows.Add(s); });
    for (int64_t w = 0; w < plan.pooled_width; ++w, to += plan.out_pixel_stride) {
      WeightedPixels across(columns, !plan.takes_largest);
      const double samples =
          row_samples * ForEachRoiSample(corner(0) + static_cast<double>(w) * part_width, part_width, plan.ratio,
                                         plan.width, [&](const RoiSample& s) { across.Add(s); });
      const PixelCross cross{scratch, rows.count(), columns, across.count()};
      const int64_t row_stride = plan.width * plan.in_pixel_stride;
      if (plan.takes_largest) {
        // Two pixels are a sample along each axis. One outside of the image is 0.
        const auto inside = static_cast<double>(rows.count() / 2 * (across.count() / 2));
        LargestPixels(cross, image, row_stride, plan.in_pixel_stride, plan.channels, inside < samples || samples == 0.0,
                      to);
        continue;
      }
      BlendPixels(cross, image, row_stride, plan.in_pixel_stride, plan.channels,
                  static_cast<float>(1.0 / std::max(1.0, samples)), to);
    }
  }
}

void Run(KernelContext* context) {
  DenseTensor& out = *context->Output(0);
  const RoiAlignPlan& plan = context->plan<RoiAlignPlan>();
  const DenseTensor* const batch_index = context->Input(2);
  const DenseTensor* const rois_num = context->Input(3);
  CheckImages(plan, batch_index, rois_num);
  if (out.numel() == 0) return;
  const CpuContext& device = context->device_as<CpuContext>();
  const float* const x = context->Input(0)->data<float>();
  const float* const rois = context->Input(1)->data<float>();
  float* const to = out.mutable_data<float>();
  auto* const scratch = static_cast<WeightedIndex*>(device.Scratch(plan.scratch_bytes));
  const int64_t image_size = plan.height * plan.width * plan.in_pixel_stride;
  const int64_t region_size = plan.pooled_height * plan.pooled_width * plan.out_pixel_stride;
  const auto task = [&](int64_t t) {
    for (int64_t r = plan.rois * t / plan.tasks; r < plan.rois * (t + 1) / plan.tasks; ++r) {
      AlignRegion(plan, rois + 4 * r, x + ImageOf(plan, r, batch_index, rois_num) * image_size, to + r * region_size,
                  scratch + t * plan.task_pixels());
    }
  };
  if (device.pool() == nullptr || plan.tasks == 1) {
    for (int64_t t = 0; t < plan.tasks; ++t) task(t);
  } else {
    device.pool()->Run(plan.tasks, task);
  }
}

}  // namespace

REGISTER_KERNEL_VARIANT(roi_align, cpu, pixels, kNative, kFloat, kNHWC)
    .Supports(&Supports)
    .Plan(&Plan)
    .Run(&Run)
    .PixelStrides();

}  // namespace wherry::cpu
