#include <array>
#include <span>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/conv_loops.h"
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
  TransposedAxis window{1, 0};

  // The input element that meets an output element by a tap; -1 if none does.
  int64_t Input(int64_t output, int64_t tap) const {
    const int64_t at = output + window.pad_begin - tap * dilation;
    return at < 0 || at % stride != 0 || at / stride >= input ? -1 : at / stride;
  }
};

// Two or three spatial axes, as many as there are strides.
template <typename T>
void ConvTranspose(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& filter,
                   std::span<const DenseTensor* const> operands, const IntArray& /*output_size*/,
                   const std::vector<int64_t>& strides, const std::vector<int64_t>& paddings,
                   const std::vector<int64_t>& output_padding, const std::string& padding_algorithm,
                   const std::vector<int64_t>& dilations, int groups, const Epilogue& epilogue, DenseTensor* out) {
  if (out->numel() == 0) return;
  const int count = static_cast<int>(strides.size());
  const WindowAttributes window = ParseWindow(count, strides, paddings, padding_algorithm, dilations);
  std::array<Axis, kMaxWindowAxes> axes;  // depth, height, width; an image's depth is 1
  for (int i = 0; i < count; ++i) {
    const auto w = static_cast<size_t>(i);
    Axis& axis = axes[w + static_cast<size_t>(kMaxWindowAxes - count)];
    axis = {x.shape()[2 + i], filter.shape()[2 + i], window.stride[w], window.dilation[w], {}};
    const int64_t more = output_padding.empty() ? 0 : output_padding[w];
    axis.window = ResolveTransposedAxis(window, i, axis.input, axis.kernel, more, out->shape()[2 + i]);
  }
  const int64_t in_channels = filter.shape()[0];
  const int64_t group_in = in_channels / groups;
  const int64_t group_out = filter.shape()[1];
  const EpilogueSteps<T> steps(epilogue, operands);
  const auto planes = [&](int64_t n, int64_t m, int64_t i) {
    const int64_t c = m / group_out * group_in + i;
    return ConvPlanes{n * in_channels + c, c * group_out + m % group_out};
  };
  ConvLoops(axes, group_in, planes, steps, x, filter, out);
}

}  // namespace

REGISTER_KERNEL(conv2d_transpose, ref, kHost, kNCHW, ConvTranspose, WHERRY_REF_FLOATS);
REGISTER_KERNEL(conv3d_transpose, ref, kHost, kNCHW, ConvTranspose, WHERRY_REF_FLOATS);

}  // namespace wherry::ref
