// Boxes that detectors start from and find.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"
#include "op/infer/aspect_ratios.h"

namespace wherry::ref {
namespace {

double Sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

template <typename T>
void YoloBox(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& img_size,
             const std::vector<int64_t>& anchors, int class_num, float conf_thresh, int downsample_ratio,
             bool clip_bbox, float scale_x_y, bool iou_aware, float iou_aware_factor, DenseTensor* boxes,
             DenseTensor* scores) {
  const auto kinds = static_cast<int64_t>(anchors.size() / 2);
  const int64_t height = x.shape()[2];
  const int64_t width = x.shape()[3];
  const int64_t area = height * width;
  const int64_t per_kind = 5 + class_num;
  const double stretch = static_cast<double>(scale_x_y);
  const double shift = -0.5 * (stretch - 1.0);
  const double power = static_cast<double>(iou_aware_factor);
  std::fill_n(boxes->mutable_data<T>(), boxes->numel(), T{});
  std::fill_n(scores->mutable_data<T>(), scores->numel(), T{});
  T* box = boxes->mutable_data<T>();
  T* score = scores->mutable_data<T>();
  for (int64_t image = 0; image < x.shape()[0]; ++image) {
    const T* const maps = x.data<T>() + image * x.shape()[1] * area;
    const T* const predictions = iou_aware ? maps + kinds * area : maps;
    const double image_height = img_size.data<int32_t>()[2 * image];
    const double image_width = img_size.data<int32_t>()[2 * image + 1];
    for (int64_t kind = 0; kind < kinds; ++kind) {
      for (int64_t place = 0; place < area; ++place, box += 4, score += class_num) {
        const auto entry = [&](int64_t e) { return Load(predictions[(kind * per_kind + e) * area + place]); };
        double confidence = Sigmoid(entry(4));
        if (iou_aware) {
          confidence = std::pow(confidence, 1.0 - power) * std::pow(Sigmoid(Load(maps[kind * area + place])), power);
        }
        if (confidence < static_cast<double>(conf_thresh)) continue;
        const auto column = static_cast<double>(place % width);
        const int64_t row = place / width;
        const double w = static_cast<double>(width);
        const double h = static_cast<double>(height);
        const double ratio = downsample_ratio;
        const double center_x = (column + Sigmoid(entry(0)) * stretch + shift) * image_width / w;
        const double center_y = (static_cast<double>(row) + Sigmoid(entry(1)) * stretch + shift) * image_height / h;
        const auto anchor = static_cast<size_t>(2 * kind);
        const double wide = std::exp(entry(2)) * static_cast<double>(anchors[anchor]) * image_width / (ratio * w);
        const double tall = std::exp(entry(3)) * static_cast<double>(anchors[anchor + 1]) * image_height / (ratio * h);
        double corners[4] = {center_x - wide / 2.0, center_y - tall / 2.0, center_x + wide / 2.0,
                             center_y + tall / 2.0};
        if (clip_bbox) {
          corners[0] = std::max(corners[0], 0.0);
          corners[1] = std::max(corners[1], 0.0);
          corners[2] = std::min(corners[2], image_width - 1.0);
          corners[3] = std::min(corners[3], image_height - 1.0);
        }
        for (int i = 0; i < 4; ++i) box[i] = Store<T>(corners[i]);
        for (int64_t c = 0; c < class_num; ++c) score[c] = Store<T>(confidence * Sigmoid(entry(5 + c)));
      }
    }
  }
}

template <typename T>
void PriorBox(const CpuContext& /*context*/, const DenseTensor& input, const DenseTensor& image,
              const std::vector<double>& min_sizes, const std::vector<double>& max_sizes,
              const std::vector<double>& aspect_ratios, const std::vector<double>& variances, bool flip, bool clip,
              double step_w, double step_h, double offset, bool min_max_aspect_ratios_order, DenseTensor* boxes,
              DenseTensor* box_variances) {
  const std::vector<double> ratios = ExpandAspectRatios(aspect_ratios, flip);
  const int64_t height = input.shape()[2];
  const int64_t width = input.shape()[3];
  const auto image_height = static_cast<double>(image.shape()[2]);
  const auto image_width = static_cast<double>(image.shape()[3]);
  const double down = step_h > 0.0 ? step_h : image_height / static_cast<double>(height);
  const double across = step_w > 0.0 ? step_w : image_width / static_cast<double>(width);
  T* to = boxes->mutable_data<T>();
  for (int64_t row = 0; row < height; ++row) {
    for (int64_t column = 0; column < width; ++column) {
      const double center_x = (static_cast<double>(column) + offset) * across;
      const double center_y = (static_cast<double>(row) + offset) * down;
      const auto add = [&](double w, double h) {
        const double corners[4] = {(center_x - w / 2.0) / image_width, (center_y - h / 2.0) / image_height,
                                   (center_x + w / 2.0) / image_width, (center_y + h / 2.0) / image_height};
        for (const double corner : corners) *to++ = Store<T>(clip ? std::clamp(corner, 0.0, 1.0) : corner);
      };
      for (size_t s = 0; s < min_sizes.size(); ++s) {
        const double size = min_sizes[s];
        const auto add_mean = [&] {
          if (s >= max_sizes.size()) return;
          const double mean = std::sqrt(size * max_sizes[s]);
          add(mean, mean);
        };
        if (min_max_aspect_ratios_order) {
          add(size, size);
          add_mean();
        }
        for (const double ratio : ratios) {
          // The square stands first already.
          if (min_max_aspect_ratios_order && std::fabs(ratio - 1.0) < 1e-6) continue;
          add(size * std::sqrt(ratio), size / std::sqrt(ratio));
        }
        if (!min_max_aspect_ratios_order) add_mean();
      }
    }
  }
  T* variance = box_variances->mutable_data<T>();
  for (int64_t i = 0; i < box_variances->numel(); ++i) variance[i] = Store<T>(variances[static_cast<size_t>(i % 4)]);
}

}  // namespace

REGISTER_KERNEL(yolo_box, ref, kHost, kNCHW, YoloBox, WHERRY_REF_FLOATS);
REGISTER_KERNEL(prior_box, ref, kHost, kNCHW, PriorBox, WHERRY_REF_FLOATS);

}  // namespace wherry::ref
