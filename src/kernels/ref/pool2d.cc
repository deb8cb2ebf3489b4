#include <algorithm>
#include <array>
#include <limits>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"
#include "op/infer/window.h"

namespace wherry::ref {
namespace {

// One window along one axis: the pixels begin, begin + step, ... below end, and how many positions it has with the
// padding.
struct Span {
  int64_t begin;
  int64_t end;
  int64_t step;
  int64_t positions;
};

// How windows lie along one axis.
struct Axis {
  int64_t input = 0;
  int64_t output = 0;
  bool adaptive = false;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  WindowAxis window;

  Span At(int64_t i) const {
    if (adaptive) {
      const int64_t begin = i * input / output;
      const int64_t end = ((i + 1) * input + output - 1) / output;
      return {begin, end, 1, end - begin};
    }
    const int64_t begin = i * stride - window.pad_begin;
    // With ceil_mode the last window may reach beyond the padding; what lies there does not count.
    const int64_t end = std::min(begin + dilation * (kernel - 1) + 1, input + window.pad_end);
    // Paddings may be huge and pixels few: the positions before the image are stepped over at once.
    const int64_t skipped = begin < 0 ? (-begin - 1) / dilation + 1 : 0;
    return {begin + skipped * dilation, std::min(end, input), dilation,
            end > begin ? (end - begin - 1) / dilation + 1 : 0};
  }
};

template <typename T>
class Accumulator {
 public:
  explicit Accumulator(bool is_max) : is_max_(is_max) {}
  void Add(T value) {
    if (is_max_) {
      const Wide<T> wide = Load(value);
      best_ = count_ == 0 || IsNan(wide) ? wide : MaxElement(best_, wide);
    } else {
      sum_ += Load(value);
    }
    ++count_;
  }
  // `size`: the window with its padding.
  T Result(int64_t size, bool exclusive) const {
    // A window of padding only has no maximum: the lowest value.
    if (is_max_ && count_ == 0) {
      return Store<T>(FloatElement<T> ? static_cast<Wide<T>>(-std::numeric_limits<double>::infinity())
                                      : std::numeric_limits<Wide<T>>::lowest());
    }
    if (is_max_) return Store<T>(best_);
    const double divisor = static_cast<double>(exclusive ? count_ : size);
    return Store<T>(static_cast<Wide<T>>(count_ == 0 ? 0.0 : static_cast<double>(sum_) / divisor));
  }

 private:
  bool is_max_;
  int64_t count_ = 0;
  Wide<T> best_{};
  std::conditional_t<FloatElement<T>, double, int64_t> sum_{};
};

template <typename T>
T PoolWindow(const T* image, int64_t width, const Span& row, const Span& column, bool is_max, bool exclusive) {
  Accumulator<T> accumulator(is_max);
  for (int64_t h = row.begin; h < row.end; h += row.step) {
    for (int64_t w = column.begin; w < column.end; w += column.step) accumulator.Add(image[h * width + w]);
  }
  return accumulator.Result(row.positions * column.positions, exclusive);
}

template <typename T>
void Pool2d(const CpuContext& /*context*/, const DenseTensor& x, const IntArray& kernel_size,
            const std::vector<int64_t>& strides, const std::vector<int64_t>& paddings, bool ceil_mode, bool exclusive,
            const std::string& pooling_type, bool global_pooling, bool adaptive, const std::string& padding_algorithm,
            const std::vector<int64_t>& dilations, DenseTensor* out) {
  const WindowAttributes window = ParseWindow(strides, paddings, padding_algorithm, dilations);
  std::array<Axis, 2> axes;
  for (size_t i = 0; i < 2; ++i) {
    Axis& axis = axes[i];
    axis.input = x.shape()[static_cast<int>(i) + 2];
    axis.adaptive = adaptive || global_pooling;
    axis.output = out->shape()[static_cast<int>(i) + 2];
    if (axis.adaptive) continue;
    axis.kernel = kernel_size[i];
    axis.stride = window.stride[i];
    axis.dilation = window.dilation[i];
    axis.window = ResolveWindowAxis(window, static_cast<int>(i), axis.input, axis.kernel, ceil_mode);
  }
  if (out->numel() == 0) return;
  const bool is_max = pooling_type == "max";
  const int64_t pixels = axes[0].input * axes[1].input;
  const T* image = x.data<T>();
  T* to = out->mutable_data<T>();
  for (int64_t plane = 0, count = x.shape()[0] * x.shape()[1]; plane < count; ++plane, image += pixels) {
    for (int64_t oh = 0; oh < axes[0].output; ++oh) {
      for (int64_t ow = 0; ow < axes[1].output; ++ow) {
        *to++ = PoolWindow(image, axes[1].input, axes[0].At(oh), axes[1].At(ow), is_max, exclusive);
      }
    }
  }
}

}  // namespace

REGISTER_KERNEL(pool2d, ref, kHost, kNCHW, Pool2d, WHERRY_REF_NUMBERS);

}  // namespace wherry::ref
