#include <span>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"
#include "kernels/ref/epilogue.h"
#include "op/infer/window.h"

namespace wherry::ref {
namespace {

// Which input element meets an output element by a tap; -1 if none does.
struct Taps {
  TransposedAxis axis;
  int64_t stride;
  int64_t dilation;
  int64_t input;
  int64_t Input(int64_t output, int64_t tap) const {
    const int64_t at = output + axis.pad_begin - tap * dilation;
    return at < 0 || at % stride != 0 || at / stride >= input ? -1 : at / stride;
  }
};

template <typename T>
void Conv2dTranspose(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& filter,
                     std::span<const DenseTensor* const> operands, const IntArray& /*output_size*/,
                     const std::vector<int64_t>& strides, const std::vector<int64_t>& paddings,
                     const std::vector<int64_t>& output_padding, const std::string& padding_algorithm,
                     const std::vector<int64_t>& dilations, int groups, const Epilogue& epilogue, DenseTensor* out) {
  if (out->numel() == 0) return;
  const WindowAttributes window = ParseWindow(strides, paddings, padding_algorithm, dilations);
  const Shape& in_shape = x.shape();
  const Shape& filter_shape = filter.shape();
  const Shape& out_shape = out->shape();
  const auto taps_of = [&](int axis) {
    const auto i = static_cast<size_t>(axis);
    const int64_t more = output_padding.empty() ? 0 : output_padding[i];
    return Taps{
        ResolveTransposedAxis(window, axis, in_shape[2 + axis], filter_shape[2 + axis], more, out_shape[2 + axis]),
        window.stride[i], window.dilation[i], in_shape[2 + axis]};
  };
  const Taps rows = taps_of(0);
  const Taps columns = taps_of(1);
  const int64_t group_in = filter_shape[0] / groups;
  const int64_t group_out = filter_shape[1];
  const EpilogueSteps<T> steps(epilogue, operands);
  const T* input = x.data<T>();
  const T* weights = filter.data<T>();
  T* to = out->mutable_data<T>();
  int64_t index = 0;
  for (int64_t n = 0; n < in_shape[0]; ++n) {
    for (int64_t m = 0; m < out_shape[1]; ++m) {
      const int64_t first_channel = m / group_out * group_in;
      for (int64_t oh = 0; oh < out_shape[2]; ++oh) {
        for (int64_t ow = 0; ow < out_shape[3]; ++ow, ++index) {
          double sum = 0.0;
          for (int64_t kh = 0; kh < filter_shape[2]; ++kh) {
            const int64_t ih = rows.Input(oh, kh);
            if (ih < 0) continue;
            for (int64_t kw = 0; kw < filter_shape[3]; ++kw) {
              const int64_t iw = columns.Input(ow, kw);
              if (iw < 0) continue;
              for (int64_t c = first_channel; c < first_channel + group_in; ++c) {
                const int64_t in_at = ((n * in_shape[1] + c) * in_shape[2] + ih) * in_shape[3] + iw;
                const int64_t weight_at =
                    ((c * group_out + m % group_out) * filter_shape[2] + kh) * filter_shape[3] + kw;
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

REGISTER_KERNEL(conv2d_transpose, ref, kHost, kNCHW, Conv2dTranspose, WHERRY_REF_FLOATS);

}  // namespace wherry::ref
