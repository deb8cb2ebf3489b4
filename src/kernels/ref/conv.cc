#include <array>
#include <span>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/conv_loops.h"
#include "kernels/ref/element.h"
#include "kernels/ref/epilogue.h"
#include "op/infer/conv_chain.h"
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
    Axis& axis = axes[w + static_cast<size_t>(kMaxWindowAxes - count)];
    axis = {x.shape()[2 + i], filter.shape()[2 + i], window.stride[w], window.dilation[w], {}};
    axis.window = ResolveWindowAxis(window, i, axis.input, axis.kernel, false);
  }
  const int64_t group_in = filter.shape()[1];
  const int64_t group_out = filter.shape()[0] / groups;
  const int64_t in_channels = x.shape()[1];
  const EpilogueSteps<T> steps(epilogue, operands);
  const auto planes = [&](int64_t n, int64_t m, int64_t i) {
    return ConvPlanes{n * in_channels + m / group_out * group_in + i, m * group_in + i};
  };
  ConvLoops(axes, group_in, planes, steps, x, filter, out);
}

template <typename T>
void ConvChain(const CpuContext& context, const DenseTensor& x, const DenseTensor& filter1, const DenseTensor& filter2,
               const DenseTensor* filter3, std::span<const DenseTensor* const> operands,
               const std::vector<int64_t>& strides, const std::vector<int64_t>& paddings,
               const std::vector<int64_t>& dilations, const std::vector<int64_t>& groups, const Epilogue& epilogue1,
               const Epilogue& epilogue2, const Epilogue& epilogue3, DenseTensor* out) {
  const DenseTensor* const filters[] = {&filter1, &filter2, filter3};
  const Epilogue* const epilogues[] = {&epilogue1, &epilogue2, &epilogue3};
  const size_t count = filter3 == nullptr ? 2 : 3;
  const auto links = ParseConvChain(count, {strides, paddings, dilations, groups});
  DenseTensor image = x;
  for (size_t i = 0; i < count; ++i) {
    const ConvLink& link = links[i];
    const DenseTensor& filter = *filters[i];
    DenseTensor result;
    if (i + 1 < count) {
      const WindowAttributes window = ParseWindow(2, link.strides, link.paddings, "EXPLICIT", link.dilations);
      const Shape& in = image.shape();
      const auto extent = [&](int axis) {
        return ResolveWindowAxis(window, axis, in[2 + axis], filter.shape()[2 + axis], false).output;
      };
      result.Allocate(HostAllocator(), TensorMeta{x.dtype(), Shape{in[0], filter.shape()[0], extent(0), extent(1)}});
    }
    Conv<T>(context, image, filter, operands, link.strides, link.paddings, "EXPLICIT", link.dilations, link.groups,
            *epilogues[i], i + 1 < count ? &result : out);
    image = result;
  }
}

}  // namespace

REGISTER_KERNEL(conv2d, ref, kHost, kNCHW, Conv, WHERRY_REF_FLOATS);
REGISTER_KERNEL(conv2d_chain, ref, kHost, kNCHW, ConvChain, WHERRY_REF_FLOATS);
REGISTER_KERNEL(conv3d, ref, kHost, kNCHW, Conv, WHERRY_REF_FLOATS);

}  // namespace wherry::ref
