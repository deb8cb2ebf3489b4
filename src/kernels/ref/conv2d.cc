#include <span>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"
#include "kernels/ref/epilogue.h"
#include "op/infer/window.h"

namespace wherry::ref {
namespace {

template <typename T>
void Conv2d(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& filter,
            std::span<const DenseTensor* const> operands, const std::vector<int64_t>& strides,
            const std::vector<int64_t>& paddings, const std::string& padding_algorithm,
            const std::vector<int64_t>& dilations, int groups, const Epilogue& epilogue, DenseTensor* out) {
  if (out->numel() == 0) return;
  const WindowAttributes window = ParseWindow(strides, paddings, padding_algorithm, dilations);
  const Shape& in_shape = x.shape();
  const Shape& filter_shape = filter.shape();
  const int64_t height = in_shape[2];
  const int64_t width = in_shape[3];
  const int64_t kernel_h = filter_shape[2];
  const int64_t kernel_w = filter_shape[3];
  const WindowAxis rows = ResolveWindowAxis(window, 0, height, kernel_h, false);
  const WindowAxis columns = ResolveWindowAxis(window, 1, width, kernel_w, false);
  const int64_t out_channels = filter_shape[0];
  const int64_t group_in = filter_shape[1];
  const int64_t group_out = out_channels / groups;
  const EpilogueSteps<T> steps(epilogue, operands);
  const T* input = x.data<T>();
  const T* weights = filter.data<T>();
  T* to = out->mutable_data<T>();
  int64_t index = 0;
  for (int64_t n = 0; n < in_shape[0]; ++n) {
    for (int64_t m = 0; m < out_channels; ++m) {
      const int64_t first_channel = m / group_out * group_in;
      for (int64_t oh = 0; oh < rows.output; ++oh) {
        for (int64_t ow = 0; ow < columns.output; ++ow, ++index) {
          double sum = 0.0;
          for (int64_t c = 0; c < group_in; ++c) {
            for (int64_t kh = 0; kh < kernel_h; ++kh) {
              const int64_t ih = oh * window.stride[0] - rows.pad_begin + kh * window.dilation[0];
              if (ih < 0 || ih >= height) continue;
              for (int64_t kw = 0; kw < kernel_w; ++kw) {
                const int64_t iw = ow * window.stride[1] - columns.pad_begin + kw * window.dilation[1];
                if (iw < 0 || iw >= width) continue;
                const int64_t in_at = ((n * in_shape[1] + first_channel + c) * height + ih) * width + iw;
                const int64_t weight_at = ((m * group_in + c) * kernel_h + kh) * kernel_w + kw;
                sum += Load(input[in_at]) * Load(weights[weight_at]);
              }
            }
          }
          to[index] = Store<T>(steps.Apply(sum, m, index));
        }
      }
    }
  }
}

}  // namespace

REGISTER_KERNEL(conv2d, ref, kHost, kNCHW, Conv2d, WHERRY_REF_FLOATS);

}  // namespace wherry::ref
