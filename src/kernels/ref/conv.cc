#include <array>
#include <span>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"
#include "kernels/ref/epilogue.h"
#include "op/infer/window.h"

namespace wherry::ref {
namespace {

// Along one spatial axis.
struct Axis {
  int64_t input = 1;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  WindowAxis window{1, 0, 0};

  // The input element under a tap; -1 for padding.
  int64_t Input(int64_t output, int64_t tap) const {
    const int64_t at = output * stride - window.pad_begin + tap * dilation;
    return at < input ? at : -1;
  }
};

// Two or three spatial axes, as many as there are strides.
template <typename T>
void Conv(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& filter,
          std::span<const DenseTensor* const> operands, const std::vector<int64_t>& strides,
          const std::vector<int64_t>& paddings, const std::string& padding_algorithm,
          const std::vector<int64_t>& dilations, int groups, const Epilogue& epilogue, DenseTensor* out) {
  if (out->numel() == 0) return;
  const int count = static_cast<int>(strides.size());
  const WindowAttributes window = ParseWindow(count, strides, paddings, padding_algorithm, dilations);
  std::array<Axis, kMaxWindowAxes> axes;  // depth, height, width; an image's depth is 1
  for (int i = 0; i < count; ++i) {
    const auto w = static_cast<size_t>(i);
    Axis& axis = axes[static_cast<size_t>(kMaxWindowAxes - count + i)];
    axis = {x.shape()[2 + i], filter.shape()[2 + i], window.stride[w], window.dilation[w], {}};
    axis.window = ResolveWindowAxis(window, i, axis.input, axis.kernel, false);
  }
  const auto& [depth, rows, columns] = axes;
  const int64_t out_channels = filter.shape()[0];
  const int64_t group_in = filter.shape()[1];
  const int64_t group_out = out_channels / groups;
  const int64_t in_channels = x.shape()[1];
  const EpilogueSteps<T> steps(epilogue, operands);
  const T* input = x.data<T>();
  const T* weights = filter.data<T>();
  T* to = out->mutable_data<T>();

  const auto sum_at = [&](int64_t n, int64_t m, int64_t od, int64_t oh, int64_t ow) {
    double sum = 0.0;
    for (int64_t c = 0; c < group_in; ++c) {
      const int64_t in_plane = (n * in_channels + m / group_out * group_in + c) * depth.input;
      const int64_t weight_plane = (m * group_in + c) * depth.kernel;
      for (int64_t kd = 0; kd < depth.kernel; ++kd) {
        const int64_t id = depth.Input(od, kd);
        if (id < 0) continue;
        for (int64_t kh = 0; kh < rows.kernel; ++kh) {
          const int64_t ih = rows.Input(oh, kh);
          if (ih < 0) continue;
          for (int64_t kw = 0; kw < columns.kernel; ++kw) {
            const int64_t iw = columns.Input(ow, kw);
            if (iw < 0) continue;
            sum += Load(input[((in_plane + id) * rows.input + ih) * columns.input + iw]) *
                   Load(weights[((weight_plane + kd) * rows.kernel + kh) * columns.kernel + kw]);
          }
        }
      }
    }
    return sum;
  };

  int64_t index = 0;
  for (int64_t n = 0; n < x.shape()[0]; ++n) {
    for (int64_t m = 0; m < out_channels; ++m) {
      for (int64_t od = 0; od < depth.window.output; ++od) {
        for (int64_t oh = 0; oh < rows.window.output; ++oh) {
          for (int64_t ow = 0; ow < columns.window.output; ++ow, ++index) {
            to[index] = Store<T>(steps.Apply(sum_at(n, m, od, oh, ow), m, index));
          }
        }
      }
    }
  }
}

}  // namespace

REGISTER_KERNEL(conv2d, ref, kHost, kNCHW, Conv, WHERRY_REF_FLOATS);
REGISTER_KERNEL(conv3d, ref, kHost, kNCHW, Conv, WHERRY_REF_FLOATS);

}  // namespace wherry::ref
