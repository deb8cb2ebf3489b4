// Resampling of axes: how the operator interpolate maps positions of its result to positions of its input and which
// elements it takes there with which weights. Shared by its InferMeta function and its kernels.
//
// The rules are those of ONNX Resize (all opsets) and Paddle's interpolation operators, which are special cases.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/dim.h"
#include "wherry/scalar.h"
#include "wherry/types.h"

namespace wherry {

enum class ResampleMode : uint8_t { kNearest, kLinear, kCubic };
enum class ResampleCoordinates : uint8_t {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kTfHalfPixelForNearest,
  kAlignCorners,
  kAsymmetric,
  kTfCropAndResize,
};
// kSimple: floor where the axis grows, ceil where it shrinks.
enum class NearestRounding : uint8_t { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil, kSimple };
enum class AspectRatioPolicy : uint8_t { kStretch, kNotLarger, kNotSmaller };

// The attributes of interpolate but for sizes, checked.
struct ResampleRule {
  ResampleMode mode = ResampleMode::kNearest;
  ResampleCoordinates coordinates = ResampleCoordinates::kHalfPixel;
  NearestRounding rounding = NearestRounding::kRoundPreferFloor;
  AspectRatioPolicy policy = AspectRatioPolicy::kStretch;
  bool recompute_scale = false;
  double cubic_coefficient = -0.75;
  bool exclude_outside = false;
  bool antialias = false;
};
// Names as in ops/interpolate.yaml; others are Error(kInvalidArgument).
ResampleRule ParseResampleRule(const std::string& mode, const std::string& coordinates, const std::string& nearest_mode,
                               const std::string& keep_aspect_ratio, bool recompute_scale, double cubic_coefficient,
                               bool exclude_outside, bool antialias);

// One axis: `in` elements become `out`.
struct ResampleAxis {
  int axis = 0;
  int64_t in = 0;
  int64_t out = 0;
  double scale = 1.0;      // what coordinates are divided by
  double extent = 0.0;     // of the result, before a given scale's is cut off to a whole number
  double roi_begin = 0.0;  // of kTfCropAndResize, in parts of the axis
  double roi_end = 1.0;
};

// The extent of a resampled axis: in * scale, rounded to float as ONNX Runtime and Paddle do, cut off. `scale` is
// positive and finite, the result below 2^48, else Error(kInvalidArgument).
int64_t ScaledExtent(int64_t in, double scale);
// The same for a symbol. kUnknownDim: no expression gives it exactly.
Dim ScaledExtent(const Dim& in, double scale);

// Extents and scales of the axes `axes` (normalised) of a tensor of these extents. `size` or `scale` may be empty, not
// both; both have one entry per axis. With both, `size` is the extent and `scale` what coordinates follow.
std::vector<ResampleAxis> ResolveResampleAxes(const ResampleRule& rule, std::span<const int> axes, const Shape& x,
                                              std::span<const int64_t> size, std::span<const double> scale);

// What each element of a resampled axis is the sum of: `taps` elements of the input with weights. Element i takes
// index[i * taps + t], in [0, in), times weight[i * taps + t]. outside[i]: the element lies outside the input and is
// the extrapolation value instead.
struct ResampleTable {
  int64_t taps = 1;
  std::vector<int64_t> index;
  std::vector<double> weight;
  std::vector<uint8_t> outside;
};
// Error(kInvalidArgument) if a result has elements and the input none, or antialiasing would need a filter that is far
// wider than the input.
ResampleTable MakeResampleTable(const ResampleRule& rule, const ResampleAxis& axis);

}  // namespace wherry
