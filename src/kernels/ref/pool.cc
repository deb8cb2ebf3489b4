#include <algorithm>
#include <array>
#include <limits>

#include "base/check.h"
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
  int64_t input = 1;
  int64_t output = 1;
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

using Axes = std::array<Axis, kMaxWindowAxes>;  // depth, height, width; an image's depth is 1

struct Pooling {
  const DenseTensor& x;
  const std::vector<int64_t>& strides;  // one per axis
  const std::vector<int64_t>& paddings;
  const std::string& padding_algorithm;
  const std::vector<int64_t>& dilations;
  bool ceil_mode;
  bool adaptive;  // or global

  Axes Resolve(const IntArray& kernel_size, const Shape& out) const {
    const int count = static_cast<int>(strides.size());
    const WindowAttributes window = ParseWindow(count, strides, paddings, padding_algorithm, dilations);
    Axes axes;
    for (int i = 0; i < count; ++i) {
      const auto w = static_cast<size_t>(i);
      Axis& axis = axes[w + static_cast<size_t>(kMaxWindowAxes - count)];
      axis.input = x.shape()[2 + i];
      axis.output = out[2 + i];
      axis.adaptive = adaptive;
      if (adaptive) continue;
      axis.kernel = kernel_size[w];
      axis.stride = window.stride[w];
      axis.dilation = window.dilation[w];
      axis.window = ResolveWindowAxis(window, i, axis.input, axis.kernel, ceil_mode);
    }
    return axes;
  }
};

// What a window of elements becomes.
template <typename T>
class Accumulator {
 public:
  void Add(T value, int64_t position) {
    const Wide<T> wide = Load(value);
    sum_ += wide;
    if (count_ == 0 || (IsNan(wide) && !IsNan(best_)) || wide > best_) {
      best_ = wide;
      best_position_ = position;
    }
    ++count_;
  }
  // A window of padding only has no maximum: the lowest value.
  T Max() const {
    if (count_ > 0) return Store<T>(best_);
    return Store<T>(FloatElement<T> ? static_cast<Wide<T>>(-std::numeric_limits<double>::infinity())
                                    : std::numeric_limits<Wide<T>>::lowest());
  }
  T Sum() const { return Store<T>(static_cast<Wide<T>>(sum_)); }
  // Over the elements, or over `size` positions.
  T Average(bool exclusive, int64_t size) const {
    const double divisor = static_cast<double>(exclusive ? count_ : size);
    return Store<T>(static_cast<Wide<T>>(count_ == 0 ? 0.0 : static_cast<double>(sum_) / divisor));
  }
  // Where the maximum is, the first of equal ones; -1 if the window is padding only.
  int64_t best_position() const { return best_position_; }

 private:
  int64_t count_ = 0;
  Wide<T> best_{};
  int64_t best_position_ = -1;
  std::conditional_t<FloatElement<T>, double, int64_t> sum_{};
};

// Calls store(index of the result, plane, what is in the window, positions of the window with its padding).
template <typename T, typename StoreFn>
void ForEachWindow(const Axes& axes, const DenseTensor& x, const StoreFn& store) {
  const auto& [depth, rows, columns] = axes;
  const int64_t pixels = depth.input * rows.input * columns.input;
  const T* image = x.data<T>();
  int64_t index = 0;
  for (int64_t plane = 0, count = x.shape()[0] * x.shape()[1]; plane < count; ++plane, image += pixels) {
    for (int64_t od = 0; od < depth.output; ++od) {
      for (int64_t oh = 0; oh < rows.output; ++oh) {
        for (int64_t ow = 0; ow < columns.output; ++ow, ++index) {
          const Span d = depth.At(od);
          const Span h = rows.At(oh);
          const Span w = columns.At(ow);
          Accumulator<T> accumulator;
          for (int64_t id = d.begin; id < d.end; id += d.step) {
            for (int64_t ih = h.begin; ih < h.end; ih += h.step) {
              for (int64_t iw = w.begin; iw < w.end; iw += w.step) {
                const int64_t at = (id * rows.input + ih) * columns.input + iw;
                accumulator.Add(image[at], at);
              }
            }
          }
          store(index, plane, accumulator, d.positions * h.positions * w.positions);
        }
      }
    }
  }
}

// Two or three spatial axes, as many as there are strides.
template <typename T>
void Pool(const CpuContext& /*context*/, const DenseTensor& x, const IntArray& kernel_size,
          const std::vector<int64_t>& strides, const std::vector<int64_t>& paddings, bool ceil_mode, bool exclusive,
          const std::string& pooling_type, bool global_pooling, bool adaptive, const std::string& padding_algorithm,
          const std::vector<int64_t>& dilations, DenseTensor* out) {
  if (out->numel() == 0) return;
  const Axes axes =
      Pooling{x, strides, paddings, padding_algorithm, dilations, ceil_mode, adaptive || global_pooling}.Resolve(
          kernel_size, out->shape());
  T* const to = out->mutable_data<T>();
  ForEachWindow<T>(axes, x, [&](int64_t index, int64_t /*plane*/, const Accumulator<T>& window, int64_t positions) {
    to[index] = pooling_type == "max"   ? window.Max()
                : pooling_type == "avg" ? window.Average(exclusive, positions)
                                        : window.Sum();
  });
}

// The position in its plane, counted with the first axis changing fastest.
int64_t ColumnMajor(const Axes& axes, int64_t position) {
  const auto& [depth, rows, columns] = axes;
  const int64_t w = position % columns.input;
  const int64_t h = position / columns.input % rows.input;
  const int64_t d = position / columns.input / rows.input;
  return (w * rows.input + h) * depth.input + d;
}

template <typename T>
void MaxPoolWithIndex(const CpuContext& /*context*/, const DenseTensor& x, const IntArray& kernel_size,
                      const std::vector<int64_t>& strides, const std::vector<int64_t>& paddings, bool ceil_mode,
                      bool global_pooling, bool adaptive, const std::string& padding_algorithm,
                      const std::vector<int64_t>& dilations, const std::string& index_kind, DataType /*dtype*/,
                      DenseTensor* out, DenseTensor* mask) {
  if (out->numel() == 0) return;
  const Axes axes =
      Pooling{x, strides, paddings, padding_algorithm, dilations, ceil_mode, adaptive || global_pooling}.Resolve(
          kernel_size, out->shape());
  const int64_t pixels = axes[0].input * axes[1].input * axes[2].input;
  T* const to = out->mutable_data<T>();
  ForEachWindow<T>(axes, x, [&](int64_t index, int64_t plane, const Accumulator<T>& window, int64_t /*positions*/) {
    to[index] = window.Max();
    int64_t position = window.best_position();
    if (position >= 0 && index_kind == "column_major") position = ColumnMajor(axes, position);
    if (position >= 0 && index_kind != "plane") position += plane * pixels;
    if (mask->dtype() == DataType::kInt32) {
      mask->mutable_data<int32_t>()[index] = static_cast<int32_t>(position);
    } else {
      mask->mutable_data<int64_t>()[index] = position;
    }
  });
}

// Plane by plane, each with `limit` places from its first on.
template <typename T, typename Index>
void UnpoolPlanes(const T* from, const Index* at, int64_t planes, int64_t pixels, int64_t limit, int64_t plane_step,
                  T* to) {
  for (int64_t p = 0; p < planes; ++p, to += plane_step) {
    for (int64_t i = p * pixels; i < (p + 1) * pixels; ++i) {
      WHERRY_ENFORCE(at[i] >= 0 && at[i] < limit, kInvalidArgument, "index ", at[i], " of element ", i,
                     " is outside 0 to ", limit - 1);
      to[at[i]] = from[i];
    }
  }
}

template <typename T>
void Unpool(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& indices,
            const IntArray& /*output_size*/, const std::string& index_kind, DenseTensor* out) {
  T* const to = out->mutable_data<T>();
  std::fill_n(to, out->numel(), T{});
  if (x.numel() == 0) return;
  const bool whole = index_kind == "tensor";
  const int64_t pixels = x.shape().numel(2, x.shape().rank());
  const int64_t limit = whole ? out->numel() : out->shape().numel(2, out->shape().rank());
  const auto unpool = [&](const auto* at) {
    UnpoolPlanes(x.data<T>(), at, x.numel() / pixels, pixels, limit, whole ? 0 : limit, to);
  };
  if (indices.dtype() == DataType::kInt32) {
    unpool(indices.data<int32_t>());
  } else {
    unpool(indices.data<int64_t>());
  }
}

}  // namespace

REGISTER_KERNEL(pool2d, ref, kHost, kNCHW, Pool, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(pool3d, ref, kHost, kNCHW, Pool, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(max_pool_with_index, ref, kHost, kNCHW, MaxPoolWithIndex, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(unpool, ref, kHost, kNCHW, Unpool, WHERRY_REF_NUMBERS);

}  // namespace wherry::ref
