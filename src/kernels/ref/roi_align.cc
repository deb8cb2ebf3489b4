#include <algorithm>
#include <vector>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/floats.h"
#include "kernels/ref/regions.h"
#include "op/infer/roi_samples.h"

namespace wherry::ref {
namespace {

// The samples of one part of a region along one axis that do not lie outside the image, and how many there would be.
struct Samples {
  std::vector<RoiSample> inside;
  double count = 0;
};

Samples SamplesOf(double begin, double size, int64_t ratio, int64_t extent) {
  Samples samples;
  samples.count = ForEachRoiSample(begin, size, ratio, extent,
                                   [&samples](const RoiSample& sample) { samples.inside.push_back(sample); });
  return samples;
}

template <typename T>
double Mean(const T* image, int64_t width, const Samples& rows, const Samples& columns) {
  double sum = 0.0;
  const auto row_sum = [&](int64_t row) {
    double value = 0.0;
    for (const RoiSample& c : columns.inside) {
      value += c.low_weight * static_cast<double>(Load(image[row * width + c.low])) +
               c.high_weight * static_cast<double>(Load(image[row * width + c.high]));
    }
    return value;
  };
  for (const RoiSample& r : rows.inside) sum += r.low_weight * row_sum(r.low) + r.high_weight * row_sum(r.high);
  return sum / std::max(1.0, rows.count * columns.count);
}

template <typename T>
double Largest(const T* image, int64_t width, const Samples& rows, const Samples& columns) {
  const double all = rows.count * columns.count;
  const auto inside = static_cast<double>(rows.inside.size() * columns.inside.size());
  bool any = inside < all || all == 0.0;  // a sample outside of the image is 0
  double largest = 0.0;
  for (const RoiSample& r : rows.inside) {
    for (const RoiSample& c : columns.inside) {
      const auto share = [&](int64_t row, double row_weight, int64_t column, double column_weight) {
        const double value = row_weight * column_weight * static_cast<double>(Load(image[row * width + column]));
        largest = any ? MaxElement(value, largest) : value;
        any = true;
      };
      share(r.low, r.low_weight, c.low, c.low_weight);
      share(r.low, r.low_weight, c.high, c.high_weight);
      share(r.high, r.high_weight, c.low, c.low_weight);
      share(r.high, r.high_weight, c.high, c.high_weight);
    }
  }
  return largest;
}

template <typename T>
void RoiAlign(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& rois,
              const DenseTensor* batch_index, const DenseTensor* rois_num, int64_t pooled_height, int64_t pooled_width,
              float spatial_scale, int64_t sampling_ratio, bool aligned, const std::string& mode, DenseTensor* out) {
  const int64_t count = rois.shape()[0];
  const int64_t channels = x.shape()[1];
  const int64_t height = x.shape()[2];
  const int64_t width = x.shape()[3];
  const std::vector<int64_t> images = ImagesOf(count, x.shape()[0], batch_index, rois_num);
  const std::vector<double> corners = FloatsOf(rois);
  T* to = out->mutable_data<T>();
  for (int64_t r = 0; r < count; ++r) {
    const auto corner = [&](size_t i) {
      return corners[static_cast<size_t>(r) * 4 + i] * static_cast<double>(spatial_scale) - (aligned ? 0.5 : 0.0);
    };
    const auto size = [&](size_t i) {
      const double length = corner(i + 2) - corner(i);
      return aligned ? length : std::max(length, 1.0);
    };
    const double part_height = size(1) / static_cast<double>(pooled_height);
    const double part_width = size(0) / static_cast<double>(pooled_width);
    std::vector<Samples> columns;
    for (int64_t w = 0; w < pooled_width; ++w) {
      columns.push_back(SamplesOf(corner(0) + static_cast<double>(w) * part_width, part_width, sampling_ratio, width));
    }
    for (int64_t h = 0; h < pooled_height; ++h) {
      const Samples rows =
          SamplesOf(corner(1) + static_cast<double>(h) * part_height, part_height, sampling_ratio, height);
      for (int64_t w = 0; w < pooled_width; ++w) {
        for (int64_t c = 0; c < channels; ++c) {
          const T* const image = x.data<T>() + (images[static_cast<size_t>(r)] * channels + c) * height * width;
          const Samples& across = columns[static_cast<size_t>(w)];
          const double value = mode == "avg" ? Mean(image, width, rows, across) : Largest(image, width, rows, across);
          to[((r * channels + c) * pooled_height + h) * pooled_width + w] = Store<T>(value);
        }
      }
    }
  }
}

}  // namespace

REGISTER_KERNEL(roi_align, ref, kHost, kNCHW, RoiAlign, WHERRY_REF_FLOATS);

}  // namespace wherry::ref
