// Maxima over windows of unequal sizes.
#include <algorithm>
#include <vector>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"

namespace wherry::ref {
namespace {

struct Window {
  int64_t begin;
  int64_t end;
};

// The windows of one axis, in float as Paddle computes them: the numbers decide where windows begin. `kernel` 0: they
// lie side by side.
std::vector<Window> WindowsOf(int64_t input, int64_t output, int64_t kernel, float u) {
  // One window has no step from it to the next.
  if (output == 1 && kernel > 0) return {{0, std::min(kernel, input)}};
  const float step = static_cast<float>(input - kernel) / static_cast<float>(output - (kernel > 0 ? 1 : 0));
  if (kernel == 0) {
    const int64_t base = input / output;
    u *= std::min(static_cast<float>(base + 2) / step - 1.0F,
                  static_cast<float>(input + 1 - base) / step - static_cast<float>(output - 1));
  }
  const auto at = [&](int64_t i) { return static_cast<int64_t>((static_cast<float>(i) + u) * step); };
  const auto first = static_cast<int64_t>(u * step);
  std::vector<Window> windows;
  for (int64_t i = 0; i < output; ++i) {
    const int64_t begin = at(i) - first;
    const int64_t end = kernel > 0 ? begin + kernel : at(i + 1) - first;
    windows.push_back({std::max<int64_t>(begin, 0), std::min(end, input)});
  }
  return windows;
}

template <typename T>
void FractionalMaxPool(const CpuContext& /*context*/, const DenseTensor& x, const std::vector<int64_t>& output_size,
                       const std::vector<int64_t>& kernel_size, float u, DenseTensor* out, DenseTensor* mask) {
  // An image's depth is 1.
  const Shape& shape = x.shape();
  std::vector<std::vector<Window>> axes;
  if (output_size.size() == 2) axes.push_back({{0, 1}});
  for (size_t i = 0; i < output_size.size(); ++i) {
    axes.push_back(WindowsOf(shape[static_cast<int>(i) + 2], output_size[i], kernel_size[i], u));
  }
  const int64_t height = shape[shape.rank() - 2];
  const int64_t width = shape[shape.rank() - 1];
  const int64_t pixels = shape.numel(2, shape.rank());
  T* to = out->mutable_data<T>();
  int32_t* at = mask->mutable_data<int32_t>();
  for (int64_t image = 0; image < shape[0] * shape[1]; ++image) {
    const T* const from = x.data<T>() + image * pixels;
    for (const Window& d : axes[0]) {
      for (const Window& h : axes[1]) {
        for (const Window& w : axes[2]) {
          int64_t best = -1;
          for (int64_t k = d.begin; k < d.end; ++k) {
            for (int64_t i = h.begin; i < h.end; ++i) {
              for (int64_t j = w.begin; j < w.end; ++j) {
                const int64_t pixel = (k * height + i) * width + j;
                if (best < 0 || Load(from[pixel]) > Load(from[best])) best = pixel;
              }
            }
          }
          *to++ = best < 0 ? Store<T>(0.0) : from[best];
          *at++ = static_cast<int32_t>(best);
        }
      }
    }
  }
}

}  // namespace

REGISTER_KERNEL(fractional_max_pool, ref, kHost, kNCHW, FractionalMaxPool, WHERRY_REF_FLOATS);

}  // namespace wherry::ref
