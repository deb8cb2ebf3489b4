// Regions of images pooled in whole pixels.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/floats.h"
#include "kernels/ref/regions.h"

namespace wherry::ref {
namespace {

// Pixels begin to end (not included) of an axis.
struct Pixels {
  int64_t begin;
  int64_t end;
};

// From floor(from) to ceil(to), inside the axis. NaN is 0.
Pixels Within(double from, double to, int64_t extent) {
  const auto clip = [&](double at) {
    return at > 0.0 ? static_cast<int64_t>(std::min(at, static_cast<double>(extent))) : int64_t{0};
  };
  return {clip(std::floor(from)), clip(std::ceil(to))};
}

// Part `i` of `parts` of an axis where the region has the pixels first to last, both included, at least one. Parts
// share the pixel that a border between them crosses. Borders are computed in float, as Paddle does: they decide about
// pixels.
Pixels PartOf(double first, double last, int64_t i, int64_t parts, int64_t extent) {
  const auto size = static_cast<float>(std::max(last - first + 1.0, 1.0)) / static_cast<float>(parts);
  const auto border = [&](int64_t at) { return static_cast<double>(static_cast<float>(at) * size); };
  return Within(std::floor(border(i)) + first, std::ceil(border(i + 1)) + first, extent);
}

template <typename T>
void RoiPool(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& rois, const DenseTensor* rois_num,
             int64_t pooled_height, int64_t pooled_width, float spatial_scale, DenseTensor* out, DenseTensor* arg_max) {
  const int64_t channels = x.shape()[1];
  const int64_t height = x.shape()[2];
  const int64_t width = x.shape()[3];
  const std::vector<int64_t> images = ImagesOf(rois.shape()[0], x.shape()[0], nullptr, rois_num);
  const std::vector<double> corners = FloatsOf(rois);
  T* to = out->mutable_data<T>();
  int64_t* at = arg_max->mutable_data<int64_t>();
  for (size_t r = 0; r < images.size(); ++r) {
    const auto corner = [&](size_t i) {
      return std::round(static_cast<double>(static_cast<float>(corners[4 * r + i]) * spatial_scale));
    };
    for (int64_t c = 0; c < channels; ++c) {
      const T* const image = x.data<T>() + (images[r] * channels + c) * height * width;
      for (int64_t h = 0; h < pooled_height; ++h) {
        const Pixels rows = PartOf(corner(1), corner(3), h, pooled_height, height);
        for (int64_t w = 0; w < pooled_width; ++w) {
          const Pixels columns = PartOf(corner(0), corner(2), w, pooled_width, width);
          int64_t best = -1;
          for (int64_t row = rows.begin; row < rows.end; ++row) {
            for (int64_t column = columns.begin; column < columns.end; ++column) {
              const int64_t pixel = row * width + column;
              if (best < 0 || Load(image[pixel]) > Load(image[best])) best = pixel;
            }
          }
          *to++ = best < 0 ? Store<T>(0.0) : image[best];
          *at++ = best;
        }
      }
    }
  }
}

template <typename T>
void PsroiPool(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& rois,
               const DenseTensor* rois_num, int64_t pooled_height, int64_t pooled_width, int64_t output_channels,
               float spatial_scale, DenseTensor* out) {
  const int64_t height = x.shape()[2];
  const int64_t width = x.shape()[3];
  const std::vector<int64_t> images = ImagesOf(rois.shape()[0], x.shape()[0], nullptr, rois_num);
  const std::vector<double> corners = FloatsOf(rois);
  const int64_t parts = pooled_height * pooled_width;
  constexpr float kLeast = 0.1F;  // of a region, in pixels
  T* to = out->mutable_data<T>();
  for (size_t r = 0; r < images.size(); ++r) {
    const auto corner = [&](size_t i) {
      return (static_cast<float>(std::round(corners[4 * r + i])) + (i < 2 ? 0.0F : 1.0F)) * spatial_scale;
    };
    const auto part = [&](size_t axis, int64_t i, int64_t count, int64_t extent) {
      const float size = std::max(corner(axis + 2) - corner(axis), kLeast) / static_cast<float>(count);
      const auto border = [&](int64_t k) { return static_cast<double>(static_cast<float>(k) * size + corner(axis)); };
      return Within(border(i), border(i + 1), extent);
    };
    for (int64_t c = 0; c < output_channels; ++c) {
      for (int64_t h = 0; h < pooled_height; ++h) {
        const Pixels rows = part(1, h, pooled_height, height);
        for (int64_t w = 0; w < pooled_width; ++w) {
          const Pixels columns = part(0, w, pooled_width, width);
          const int64_t channel = c * parts + h * pooled_width + w;
          const T* const image = x.data<T>() + (images[r] * output_channels * parts + channel) * height * width;
          double sum = 0.0;
          for (int64_t row = rows.begin; row < rows.end; ++row) {
            for (int64_t column = columns.begin; column < columns.end; ++column) {
              sum += static_cast<double>(Load(image[row * width + column]));
            }
          }
          const int64_t area =
              std::max<int64_t>(rows.end - rows.begin, 0) * std::max<int64_t>(columns.end - columns.begin, 0);
          *to++ = Store<T>(area == 0 ? 0.0 : sum / static_cast<double>(area));
        }
      }
    }
  }
}

}  // namespace

REGISTER_KERNEL(roi_pool, ref, kHost, kNCHW, RoiPool, WHERRY_REF_FLOATS);
REGISTER_KERNEL(psroi_pool, ref, kHost, kNCHW, PsroiPool, WHERRY_REF_FLOATS);

}  // namespace wherry::ref
