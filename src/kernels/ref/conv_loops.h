// The loops that a convolution and a transposed one share; they differ in which input element a tap meets.
#pragma once

#include <array>
#include <cstdint>

#include "core/dense_tensor.h"
#include "kernels/ref/element.h"
#include "kernels/ref/epilogue.h"
#include "op/infer/window.h"

namespace wherry::ref {

// Where the products of an output's channel with one input channel begin.
struct ConvPlanes {
  int64_t input;   // plane of x, of all images and channels
  int64_t weight;  // plane of the filter
};

// Axis: along depth, height, width (an image's depth is 1), with the extents `input` and `kernel` and
// Input(output, tap), the input element that meets an output element by a tap, or -1.
// planes(n, m, i): the planes of image n, output channel m and the i-th input channel of its group, of `group_in`.
template <typename T, typename Axis, typename Planes>
void ConvLoops(const std::array<Axis, kMaxWindowAxes>& axes, int64_t group_in, const Planes& planes,
               const EpilogueSteps<T>& steps, const DenseTensor& x, const DenseTensor& filter, DenseTensor* out) {
  const Axis& depth = axes[0];
  const Axis& rows = axes[1];
  const Axis& columns = axes[2];
  const T* input = x.data<T>();
  const T* weights = filter.data<T>();
  T* to = out->mutable_data<T>();

  const auto sum_at = [&](int64_t n, int64_t m, int64_t od, int64_t oh, int64_t ow) {
    double sum = 0.0;
    for (int64_t i = 0; i < group_in; ++i) {
      const ConvPlanes plane = planes(n, m, i);
      const int64_t in_plane = plane.input * depth.input;
      const int64_t weight_plane = plane.weight * depth.kernel;
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
    for (int64_t m = 0; m < out->shape()[1]; ++m) {
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

}  // namespace wherry::ref
