#include <cmath>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"
#include "op/infer/window.h"

namespace wherry::ref {
namespace {

// The plane at a place between its pixels; zero outside.
template <typename T>
double Sample(const T* plane, int64_t height, int64_t width, double y, double x) {
  if (!(y > -1.0 && y < static_cast<double>(height) && x > -1.0 && x < static_cast<double>(width))) return 0.0;
  const double top = std::floor(y);
  const double left = std::floor(x);
  double sum = 0.0;
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t j = 0; j < 2; ++j) {
      const int64_t row = static_cast<int64_t>(top) + i;
      const int64_t column = static_cast<int64_t>(left) + j;
      if (row < 0 || row >= height || column < 0 || column >= width) continue;
      const double weight_y = i == 0 ? 1.0 - (y - top) : y - top;
      const double weight_x = j == 0 ? 1.0 - (x - left) : x - left;
      sum += weight_y * weight_x * Load(plane[row * width + column]);
    }
  }
  return sum;
}

template <typename T>
void DeformableConv(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& offset,
                    const DenseTensor& filter, const DenseTensor* mask, const std::vector<int64_t>& strides,
                    const std::vector<int64_t>& paddings, const std::string& padding_algorithm,
                    const std::vector<int64_t>& dilations, int groups, int deformable_groups, DenseTensor* out) {
  if (out->numel() == 0) return;
  const WindowAttributes window = ParseWindow(2, strides, paddings, padding_algorithm, dilations);
  const int64_t channels = x.shape()[1];
  const int64_t height = x.shape()[2];
  const int64_t width = x.shape()[3];
  const int64_t kernel_h = filter.shape()[2];
  const int64_t kernel_w = filter.shape()[3];
  const int64_t taps = kernel_h * kernel_w;
  const WindowAxis rows = ResolveWindowAxis(window, 0, height, kernel_h, false);
  const WindowAxis columns = ResolveWindowAxis(window, 1, width, kernel_w, false);
  const int64_t out_channels = filter.shape()[0];
  const int64_t group_in = filter.shape()[1];
  const int64_t group_out = out_channels / groups;
  const int64_t pixels = rows.output * columns.output;
  T* to = out->mutable_data<T>();
  for (int64_t n = 0; n < x.shape()[0]; ++n) {
    for (int64_t m = 0; m < out_channels; ++m) {
      for (int64_t p = 0; p < pixels; ++p) {
        double sum = 0.0;
        for (int64_t i = 0; i < group_in; ++i) {
          const int64_t c = m / group_out * group_in + i;
          const T* plane = x.data<T>() + (n * channels + c) * height * width;
          const int64_t deformable_group = n * deformable_groups + c * deformable_groups / channels;
          for (int64_t tap = 0; tap < taps; ++tap) {
            const int64_t moved = deformable_group * taps + tap;
            const int64_t row =
                p / columns.output * window.stride[0] - rows.pad_begin + tap / kernel_w * window.dilation[0];
            const int64_t column =
                p % columns.output * window.stride[1] - columns.pad_begin + tap % kernel_w * window.dilation[1];
            const double y = static_cast<double>(row) + Load(offset.data<T>()[moved * 2 * pixels + p]);
            const double at_x = static_cast<double>(column) + Load(offset.data<T>()[(moved * 2 + 1) * pixels + p]);
            double value = Sample(plane, height, width, y, at_x);
            if (mask != nullptr) value *= Load(mask->data<T>()[moved * pixels + p]);
            sum += value * Load(filter.data<T>()[(m * group_in + i) * taps + tap]);
          }
        }
        *to++ = Store<T>(sum);
      }
    }
  }
}

}  // namespace

REGISTER_KERNEL(deformable_conv, ref, kHost, kNCHW, DeformableConv, WHERRY_REF_FLOATS);

}  // namespace wherry::ref
