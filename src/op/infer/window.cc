#include "op/infer/window.h"

#include <algorithm>

#include "base/check.h"
#include "base/strings.h"

namespace wherry {
namespace {

constexpr int64_t kLimit = int64_t{1} << 31;

using PerAxis = std::array<int64_t, kMaxWindowAxes>;

PerAxis PositivePerAxis(size_t axes, const std::vector<int64_t>& values, const char* what) {
  WHERRY_ENFORCE(values.size() == axes, kInvalidArgument, what, " are [", Join(values, ", "), "], expected ", axes,
                 " numbers");
  PerAxis result = {1, 1, 1};
  for (size_t i = 0; i < axes; ++i) {
    WHERRY_ENFORCE(values[i] >= 1 && values[i] < kLimit, kInvalidArgument, what, " are [", Join(values, ", "),
                   "], expected 1 to ", kLimit - 1);
    result[i] = values[i];
  }
  return result;
}

// (a + b - 1) / b for b > 0 and any a.
int64_t CeilDivide(int64_t a, int64_t b) { return a > 0 ? (a - 1) / b + 1 : -(-a / b); }

}  // namespace

PaddingAlgorithm ParsePaddingAlgorithm(const std::string& name) {
  if (name == "EXPLICIT") return PaddingAlgorithm::kExplicit;
  if (name == "SAME") return PaddingAlgorithm::kSame;
  if (name == "SAME_LOWER") return PaddingAlgorithm::kSameLower;
  if (name == "VALID") return PaddingAlgorithm::kValid;
  if (name == "SAME_FORWARD") return PaddingAlgorithm::kSameForward;
  Throw(ErrorCode::kInvalidArgument, "padding_algorithm is ", Quote(name),
        ", expected 'EXPLICIT', 'SAME', 'SAME_LOWER' or 'VALID'");
}

WindowAttributes ParseWindow(int axes, const std::vector<int64_t>& strides, const std::vector<int64_t>& paddings,
                             const std::string& padding_algorithm, const std::vector<int64_t>& dilations) {
  const auto count = static_cast<size_t>(axes);
  WindowAttributes window;
  window.algorithm = ParsePaddingAlgorithm(padding_algorithm);
  window.stride = PositivePerAxis(count, strides, "strides");
  window.dilation = PositivePerAxis(count, dilations, "dilations");
  if (window.algorithm != PaddingAlgorithm::kExplicit) return window;
  const bool both_sides = paddings.size() == 2 * count;
  WHERRY_ENFORCE(paddings.size() == count || both_sides, kInvalidArgument, "paddings are [", Join(paddings, ", "),
                 "], expected a number for each of ", axes, " axes or two");
  for (const int64_t padding : paddings) {
    WHERRY_ENFORCE(padding > -kLimit && padding < kLimit, kInvalidArgument, "paddings are [", Join(paddings, ", "),
                   "], outside 31 bits");
  }
  for (size_t i = 0; i < count; ++i) {
    window.pad_begin[i] = both_sides ? paddings[2 * i] : paddings[i];
    window.pad_end[i] = both_sides ? paddings[2 * i + 1] : paddings[i];
  }
  return window;
}

WindowAxis ResolveWindowAxis(const WindowAttributes& window, int axis, int64_t input, int64_t kernel, bool ceil_mode) {
  const size_t i = static_cast<size_t>(axis);
  const int64_t stride = window.stride[i];
  WHERRY_ENFORCE(kernel >= 1 && kernel < kLimit && input < (int64_t{1} << 60), kInvalidArgument,
                 "the window's size is ", kernel, " over an axis of ", input, ", expected 1 to ", kLimit - 1);
  const int64_t extent = window.dilation[i] * (kernel - 1) + 1;
  WHERRY_ENFORCE(window.algorithm != PaddingAlgorithm::kSameForward, kInvalidArgument,
                 "padding_algorithm is 'SAME_FORWARD', which is for transposed convolutions only");
  WindowAxis result;
  if (window.algorithm == PaddingAlgorithm::kSame || window.algorithm == PaddingAlgorithm::kSameLower) {
    result.output = CeilDivide(input, stride);
    const int64_t total = std::max<int64_t>((result.output - 1) * stride + extent - input, 0);
    const int64_t smaller = total / 2;
    result.pad_begin = window.algorithm == PaddingAlgorithm::kSame ? smaller : total - smaller;
    result.pad_end = total - result.pad_begin;
    return result;
  }
  result.pad_begin = window.pad_begin[i];
  result.pad_end = window.pad_end[i];
  const int64_t room = input + result.pad_begin + result.pad_end - extent;
  // Rounded up, a window that reaches beyond the end by less than a step is still one.
  const bool overhangs = ceil_mode && room > -stride && input + result.pad_begin > 0;
  WHERRY_ENFORCE(room >= 0 || overhangs, kInvalidArgument, "the window covers ", extent, " elements, but axis ",
                 axis + 2, " has ", input, " and paddings of ", result.pad_begin, " and ", result.pad_end);
  result.output = (ceil_mode ? CeilDivide(room, stride) : room / stride) + 1;
  if (ceil_mode && result.output > 1 && (result.output - 1) * stride >= input + result.pad_begin) --result.output;
  return result;
}

Dim WindowOutput(const WindowAttributes& window, int axis, const Dim& input, const Dim& kernel, bool ceil_mode) {
  if (input.known() && kernel.known())
    return ResolveWindowAxis(window, axis, input.value(), kernel.value(), ceil_mode).output;
  const size_t i = static_cast<size_t>(axis);
  const Dim stride = window.stride[i];
  if (window.algorithm == PaddingAlgorithm::kSame || window.algorithm == PaddingAlgorithm::kSameLower)
    return CeilDiv(input, stride);
  const Dim room = input + (Dim(window.pad_begin[i] + window.pad_end[i]) - (kernel - 1) * window.dilation[i] - 1);
  if (!ceil_mode) return FloorDiv(room, stride) + 1;
  // The number of windows that begin before the end of the input is the other bound.
  return Min(CeilDiv(room, stride) + 1, FloorDiv(input + window.pad_begin[i] - 1, stride) + 1);
}

TransposedAxis ResolveTransposedAxis(const WindowAttributes& window, int axis, int64_t input, int64_t kernel,
                                     int64_t output_padding, int64_t output) {
  const size_t i = static_cast<size_t>(axis);
  const int64_t stride = window.stride[i];
  WHERRY_ENFORCE(kernel >= 1 && kernel < kLimit && input < kLimit, kInvalidArgument, "the window's size is ", kernel,
                 " over an axis of ", input, ", expected 1 to ", kLimit - 1, " over less than ", kLimit);
  const int64_t extent = window.dilation[i] * (kernel - 1) + 1;
  const int64_t reached = (input - 1) * stride + extent + output_padding;
  TransposedAxis result;
  int64_t cut = 0;
  switch (window.algorithm) {
    case PaddingAlgorithm::kExplicit:
      result.pad_begin = window.pad_begin[i];
      cut = window.pad_begin[i] + window.pad_end[i];
      break;
    case PaddingAlgorithm::kValid: break;
    case PaddingAlgorithm::kSame:
    case PaddingAlgorithm::kSameLower:
      if (output < 0) output = input * stride;
      cut = std::max<int64_t>(reached - output, 0);
      result.pad_begin = window.algorithm == PaddingAlgorithm::kSame ? cut / 2 : cut - cut / 2;
      break;
    case PaddingAlgorithm::kSameForward:
      cut = std::max<int64_t>((CeilDivide(input, stride) - 1) * stride + extent - input, 0);
      result.pad_begin = cut / 2;
      break;
  }
  result.output = output >= 0 ? output : reached - cut;
  WHERRY_ENFORCE(result.output >= 0 && result.output < (int64_t{1} << 60), kInvalidArgument, "axis ", axis + 2,
                 " of the result would have ", result.output, " elements: the input's ", input, " reach ", reached,
                 ", paddings cut off ", cut);
  return result;
}

Dim TransposedOutput(const WindowAttributes& window, int axis, const Dim& input, const Dim& kernel,
                     int64_t output_padding) {
  if (input.known() && kernel.known())
    return ResolveTransposedAxis(window, axis, input.value(), kernel.value(), output_padding, -1).output;
  const size_t i = static_cast<size_t>(axis);
  const Dim stride = window.stride[i];
  const Dim extent = (kernel - 1) * window.dilation[i] + 1;
  const Dim reached = (input - 1) * stride + extent + output_padding;
  switch (window.algorithm) {
    case PaddingAlgorithm::kExplicit: return reached - Dim(window.pad_begin[i] + window.pad_end[i]);
    case PaddingAlgorithm::kValid: return reached;
    case PaddingAlgorithm::kSame:
    case PaddingAlgorithm::kSameLower: return input * stride;
    case PaddingAlgorithm::kSameForward:
      return reached - Max((CeilDiv(input, stride) - 1) * stride + extent - input, Dim(0));
  }
  return reached;
}

}  // namespace wherry
