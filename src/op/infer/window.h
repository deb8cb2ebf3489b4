// Sliding windows along one axis: explicit paddings and output sizes from what an operator's attributes say. Shared by
// the InferMeta functions of convolutions and pools and by their kernels.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/dim.h"

namespace wherry {

// kSameForward is for transposed convolutions only.
enum class PaddingAlgorithm : uint8_t { kExplicit, kSame, kSameLower, kValid, kSameForward };
// "EXPLICIT", "SAME", "SAME_LOWER", "VALID", "SAME_FORWARD"; else Error(kInvalidArgument).
PaddingAlgorithm ParsePaddingAlgorithm(const std::string& name);

inline constexpr int kMaxWindowAxes = 3;

// The attributes of a window over (depth,) height and width, checked.
struct WindowAttributes {
  std::array<int64_t, kMaxWindowAxes> stride = {1, 1, 1};
  std::array<int64_t, kMaxWindowAxes> dilation = {1, 1, 1};
  std::array<int64_t, kMaxWindowAxes> pad_begin = {0, 0, 0};  // of kExplicit
  std::array<int64_t, kMaxWindowAxes> pad_end = {0, 0, 0};
  PaddingAlgorithm algorithm = PaddingAlgorithm::kExplicit;
};
// For `axes` axes, at most kMaxWindowAxes. Strides and dilations are a positive number per axis, paddings are [top,
// bottom, left, right] or [height, width] (as many for each axis); all below 2^31 in magnitude, so that sums and
// products of a few of them cannot overflow. Otherwise Error(kInvalidArgument).
WindowAttributes ParseWindow(int axes, const std::vector<int64_t>& strides, const std::vector<int64_t>& paddings,
                             const std::string& padding_algorithm, const std::vector<int64_t>& dilations);

// One axis for a known input size.
struct WindowAxis {
  int64_t output = 0;
  int64_t pad_begin = 0;  // negative: crop
  int64_t pad_end = 0;
};
// Error(kInvalidArgument) when the window is larger than the padded input. With `ceil_mode` the size is rounded up: a
// window may reach beyond the padded input by less than a step, but one that begins beyond the input and its front
// padding is left out.
WindowAxis ResolveWindowAxis(const WindowAttributes& window, int axis, int64_t input, int64_t kernel, bool ceil_mode);
// The same for sizes that may be symbols.
Dim WindowOutput(const WindowAttributes& window, int axis, const Dim& input, const Dim& kernel, bool ceil_mode);

// One axis of a transposed convolution: input element i meets the output's elements i * stride - pad_begin + tap *
// dilation, those that exist.
struct TransposedAxis {
  int64_t output = 0;
  int64_t pad_begin = 0;
};
// All input elements together reach (input - 1) * stride + dilation * (kernel - 1) + 1 elements and output_padding more
// at the end; paddings are what is cut off. `output`: the wanted size, -1 for what the attributes give. kExplicit and
// kValid cut the given paddings or none; a wanted size changes the end only. kSame and kSameLower want input * stride
// unless told otherwise, and cut what is too much, half on each side. kSameForward cuts what a convolution of the input
// with padding SAME would add. Error(kInvalidArgument) when that leaves less than nothing.
TransposedAxis ResolveTransposedAxis(const WindowAttributes& window, int axis, int64_t input, int64_t kernel,
                                     int64_t output_padding, int64_t output);
// Its size for sizes that may be symbols.
Dim TransposedOutput(const WindowAttributes& window, int axis, const Dim& input, const Dim& kernel,
                     int64_t output_padding);

}  // namespace wherry
