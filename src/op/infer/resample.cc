#include "op/infer/resample.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/strings.h"
#include "op/unknown_dim.h"

namespace wherry {
namespace {

template <typename Enum, size_t N>
Enum ParseName(const std::array<std::pair<std::string_view, Enum>, N>& names, const std::string& name,
               const char* what) {
  std::vector<std::string_view> known;
  for (const auto& [text, value] : names) {
    if (text == name) return value;
    known.push_back(text);
  }
  Throw(ErrorCode::kInvalidArgument, what, " is ", Quote(name), ", expected one of ", Join(known, ", "));
}

constexpr std::array<std::pair<std::string_view, ResampleMode>, 3> kModes = {{
    {"nearest", ResampleMode::kNearest},
    {"linear", ResampleMode::kLinear},
    {"cubic", ResampleMode::kCubic},
}};
constexpr std::array<std::pair<std::string_view, ResampleCoordinates>, 7> kCoordinates = {{
    {"half_pixel", ResampleCoordinates::kHalfPixel},
    {"half_pixel_symmetric", ResampleCoordinates::kHalfPixelSymmetric},
    {"pytorch_half_pixel", ResampleCoordinates::kPytorchHalfPixel},
    {"tf_half_pixel_for_nn", ResampleCoordinates::kTfHalfPixelForNearest},
    {"align_corners", ResampleCoordinates::kAlignCorners},
    {"asymmetric", ResampleCoordinates::kAsymmetric},
    {"tf_crop_and_resize", ResampleCoordinates::kTfCropAndResize},
}};
constexpr std::array<std::pair<std::string_view, NearestRounding>, 5> kRoundings = {{
    {"round_prefer_floor", NearestRounding::kRoundPreferFloor},
    {"round_prefer_ceil", NearestRounding::kRoundPreferCeil},
    {"floor", NearestRounding::kFloor},
    {"ceil", NearestRounding::kCeil},
    {"simple", NearestRounding::kSimple},
}};
constexpr std::array<std::pair<std::string_view, AspectRatioPolicy>, 3> kPolicies = {{
    {"stretch", AspectRatioPolicy::kStretch},
    {"not_larger", AspectRatioPolicy::kNotLarger},
    {"not_smaller", AspectRatioPolicy::kNotSmaller},
}};

constexpr double kLargestExtent = 281474976710656.0;  // 2^48: twice that is exact in double and far from overflow

void CheckScale(double scale) {
  WHERRY_ENFORCE(std::isfinite(scale) && scale > 0.0, kInvalidArgument, "scale is ", scale,
                 ", expected a positive number");
}

int64_t Extent(double extent) {
  WHERRY_ENFORCE(extent < kLargestExtent, kInvalidArgument, "an axis would have ", extent, " elements");
  return static_cast<int64_t>(extent);
}

// The fraction with the smallest denominator that is the same float as `scale`, by continued fractions.
struct Fraction {
  int64_t numerator;
  int64_t denominator;
};
std::optional<Fraction> FractionOf(double scale) {
  constexpr int64_t kMost = 4096;
  const auto wanted = static_cast<float>(scale);
  Fraction before{0, 1};
  Fraction now{1, 0};
  double rest = scale;
  for (int i = 0; i < 16 && rest < 1e6; ++i) {
    const auto digit = static_cast<int64_t>(std::floor(rest));
    before =
        std::exchange(now, {digit * now.numerator + before.numerator, digit * now.denominator + before.denominator});
    if (now.numerator > kMost * kMost || now.denominator > kMost) return std::nullopt;
    if (static_cast<float>(static_cast<double>(now.numerator) / static_cast<double>(now.denominator)) == wanted) {
      return now;
    }
    rest = 1.0 / (rest - static_cast<double>(digit));
  }
  return std::nullopt;
}

// Where element i of the result lies in the input. In T: float for what decides between two elements, because that is
// where ONNX Runtime's and Paddle's ties fall; double for what blends them.
template <typename T>
T Coordinate(const ResampleRule& rule, const ResampleAxis& axis, int64_t i) {
  const T x = static_cast<T>(i);
  const T scale = static_cast<T>(axis.scale);
  const T in = static_cast<T>(axis.in);
  const T extent = static_cast<T>(axis.extent);
  constexpr T kHalf = static_cast<T>(0.5);
  switch (rule.coordinates) {
    case ResampleCoordinates::kHalfPixel: return (x + kHalf) / scale - kHalf;
    case ResampleCoordinates::kHalfPixelSymmetric: {
      const T offset = in / 2 * (1 - static_cast<T>(axis.out) / (scale * in));
      return offset + (x + kHalf) / scale - kHalf;
    }
    case ResampleCoordinates::kPytorchHalfPixel: return axis.out > 1 ? (x + kHalf) / scale - kHalf : 0;
    case ResampleCoordinates::kTfHalfPixelForNearest: return (x + kHalf) / scale;
    case ResampleCoordinates::kAlignCorners: return axis.out <= 1 || extent == 1 ? 0 : x * (in - 1) / (extent - 1);
    case ResampleCoordinates::kAsymmetric: return x / scale;
    case ResampleCoordinates::kTfCropAndResize: {
      const T begin = static_cast<T>(axis.roi_begin);
      const T end = static_cast<T>(axis.roi_end);
      if (axis.out <= 1 || extent == 1) return (begin + end) * (in - 1) / 2;
      return begin * (in - 1) + x * (end - begin) * (in - 1) / (extent - 1);
    }
  }
  return 0;
}

double RoundNearest(NearestRounding rounding, double x, double scale) {
  // A half that rounding to float has moved is still one, as in ONNX Runtime.
  constexpr double kHalf = 0.5 + 1e-6;
  switch (rounding) {
    case NearestRounding::kRoundPreferFloor: return std::ceil(x - kHalf);
    case NearestRounding::kRoundPreferCeil: return std::floor(x + kHalf);
    case NearestRounding::kFloor: return std::floor(x);
    case NearestRounding::kCeil: return std::ceil(x);
    case NearestRounding::kSimple: return scale < 1.0 ? std::ceil(x) : std::floor(x);
  }
  return x;
}

// The weight of an element at this distance, in elements of the (stretched) filter.
double FilterWeight(const ResampleRule& rule, double distance) {
  const double d = std::abs(distance);
  if (rule.mode == ResampleMode::kLinear) return std::max(0.0, 1.0 - d);
  const double a = rule.cubic_coefficient;
  if (d <= 1.0) return ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0;
  return d < 2.0 ? ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a : 0.0;
}

int64_t ClampIndex(double index, int64_t in) {
  if (!(index > 0.0)) return 0;  // NaN too
  return static_cast<int64_t>(std::min(index, static_cast<double>(in - 1)));
}

// Weights over taps floor(x) + first, floor(x) + first + 1, ..., which sum up to 1.
void BlendTaps(const ResampleRule& rule, const ResampleAxis& axis, double x, double stretch, int64_t first,
               ResampleTable* table) {
  const double base = std::floor(x);
  const size_t begin = table->weight.size();
  double sum = 0.0;
  for (int64_t t = 0; t < table->taps; ++t) {
    const double at = base + static_cast<double>(first + t);
    double weight = FilterWeight(rule, (at - x) * stretch);
    if (rule.exclude_outside && (at < 0.0 || at >= static_cast<double>(axis.in))) weight = 0.0;
    sum += weight;
    table->index.push_back(ClampIndex(at, axis.in));
    table->weight.push_back(weight);
  }
  // Only a stretched or a cut filter has another sum. With a sum of 0 all elements lie outside.
  if (sum == 0.0 || !(stretch < 1.0 || rule.exclude_outside)) return;
  for (size_t i = begin; i < table->weight.size(); ++i) table->weight[i] /= sum;
}

}  // namespace

ResampleRule ParseResampleRule(const std::string& mode, const std::string& coordinates, const std::string& nearest_mode,
                               const std::string& keep_aspect_ratio, bool recompute_scale, double cubic_coefficient,
                               bool exclude_outside, bool antialias) {
  ResampleRule rule;
  rule.mode = ParseName(kModes, mode, "mode");
  rule.coordinates = ParseName(kCoordinates, coordinates, "coordinates");
  rule.rounding = ParseName(kRoundings, nearest_mode, "nearest_mode");
  rule.policy = ParseName(kPolicies, keep_aspect_ratio, "keep_aspect_ratio");
  rule.recompute_scale = recompute_scale;
  rule.cubic_coefficient = cubic_coefficient;
  rule.exclude_outside = exclude_outside;
  rule.antialias = antialias;
  WHERRY_ENFORCE(std::isfinite(cubic_coefficient), kInvalidArgument, "cubic_coefficient is ", cubic_coefficient);
  return rule;
}

int64_t ScaledExtent(int64_t in, double scale) {
  CheckScale(scale);
  return Extent(static_cast<double>(static_cast<float>(in) * static_cast<float>(scale)));
}

Dim ScaledExtent(const Dim& in, double scale) {
  if (in.known()) return ScaledExtent(in.value(), scale);
  CheckScale(scale);
  const std::optional<Fraction> fraction = FractionOf(scale);
  if (!fraction) return kUnknownDim;
  // Rounded to float, a whole number may come out below itself: there the fraction would promise one element more.
  const auto [numerator, denominator] = *fraction;
  if ((denominator & (denominator - 1)) != 0) {
    constexpr int64_t kExtents = 1 << 16;  // no axis of an image is longer
    for (int64_t i = denominator; i <= kExtents; i += denominator) {
      if (ScaledExtent(i, scale) != i / denominator * numerator) return kUnknownDim;
    }
  }
  return FloorDiv(in * Dim(numerator), denominator);
}

std::vector<ResampleAxis> ResolveResampleAxes(const ResampleRule& rule, std::span<const int> axes, const Shape& x,
                                              std::span<const int64_t> size, std::span<const double> scale) {
  std::vector<ResampleAxis> resolved(axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    ResampleAxis& axis = resolved[i];
    axis.axis = axes[i];
    axis.in = x[axes[i]];
    if (!scale.empty()) CheckScale(scale[i]);
    axis.out = size.empty() ? ScaledExtent(axis.in, scale[i]) : size[i];
    WHERRY_ENFORCE(axis.out >= 0, kInvalidArgument, "size is [", Join(size, ", "), "]");
    WHERRY_ENFORCE(axis.in > 0 || axis.out == 0, kInvalidArgument, "axis ", axis.axis, " of x ", x.DebugString(),
                   " is empty and would become ", axis.out, " elements");
    // In float, as ONNX Runtime and Paddle have it.
    const bool given = !scale.empty() && !rule.recompute_scale;
    axis.scale = given           ? scale[i]
                 : axis.out == 0 ? 1.0
                                 : static_cast<double>(static_cast<float>(axis.out) / static_cast<float>(axis.in));
    axis.extent = given ? axis.scale * static_cast<double>(axis.in) : static_cast<double>(axis.out);
  }
  if (rule.policy == AspectRatioPolicy::kStretch || size.empty() || resolved.empty()) return resolved;
  const auto by_scale = [](const ResampleAxis& a, const ResampleAxis& b) { return a.scale < b.scale; };
  const bool smallest = rule.policy == AspectRatioPolicy::kNotLarger;
  const double common = (smallest ? std::min_element(resolved.begin(), resolved.end(), by_scale)
                                  : std::max_element(resolved.begin(), resolved.end(), by_scale))
                            ->scale;
  for (ResampleAxis& axis : resolved) {
    axis.scale = common;
    const float extent = static_cast<float>(common) * static_cast<float>(axis.in);
    if (axis.out != 0) axis.out = Extent(static_cast<double>(std::round(extent)));
    axis.extent = static_cast<double>(axis.out);
  }
  return resolved;
}

ResampleTable MakeResampleTable(const ResampleRule& rule, const ResampleAxis& axis) {
  ResampleTable table;
  if (axis.out == 0) return table;
  WHERRY_ENFORCE(axis.in > 0, kInvalidArgument, "axis ", axis.axis, " of x is empty, its result has ", axis.out,
                 " elements");
  const bool nearest = rule.mode == ResampleMode::kNearest;
  // A shrinking axis is filtered by the filter stretched to the distance of the result's elements.
  const double stretch = rule.antialias && !nearest ? std::min(axis.scale, 1.0) : 1.0;
  const double radius = (rule.mode == ResampleMode::kLinear ? 1.0 : 2.0) / stretch;
  // Elements are reached if they are less than `radius` away.
  const double first = std::floor(-radius) + 1.0;
  if (!nearest) {
    const double taps = 2.0 - 2.0 * first;
    // 4 in / out + 2 at most unless the scale contradicts the extents.
    WHERRY_ENFORCE(taps * static_cast<double>(axis.out) <=
                       16.0 * (static_cast<double>(axis.in) + 1.0) + 16.0 * static_cast<double>(axis.out),
                   kInvalidArgument, "scale ", axis.scale, " does not fit axis ", axis.axis, " of ", axis.in,
                   " elements that becomes ", axis.out);
    table.taps = static_cast<int64_t>(taps);
  }
  table.index.reserve(static_cast<size_t>(axis.out * table.taps));
  table.weight.reserve(table.index.capacity());
  table.outside.resize(static_cast<size_t>(axis.out));
  for (int64_t i = 0; i < axis.out; ++i) {
    const double x =
        nearest ? static_cast<double>(Coordinate<float>(rule, axis, i)) : Coordinate<double>(rule, axis, i);
    if (rule.coordinates == ResampleCoordinates::kTfCropAndResize) {
      table.outside[static_cast<size_t>(i)] = !(x >= 0.0 && x <= static_cast<double>(axis.in - 1));
    }
    if (nearest) {
      table.index.push_back(ClampIndex(RoundNearest(rule.rounding, x, axis.scale), axis.in));
      table.weight.push_back(1.0);
    } else {
      BlendTaps(rule, axis, x, stretch, static_cast<int64_t>(first), &table);
    }
  }
  return table;
}

}  // namespace wherry
