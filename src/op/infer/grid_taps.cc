#include "op/infer/grid_taps.h"

#include <algorithm>
#include <cmath>

namespace wherry {
namespace {

// One axis of the image.
struct Axis {
  int64_t extent;
  double low;  // the borders that reflect
  double high;
};

// From [-1, 1] to elements.
double Denormalize(double x, const Axis& axis, bool align_corners) {
  const auto extent = static_cast<double>(axis.extent);
  return align_corners ? (x + 1.0) / 2.0 * (extent - 1.0) : ((x + 1.0) * extent - 1.0) / 2.0;
}

double Reflect(double x, const Axis& axis) {
  const double range = axis.high - axis.low;
  if (range <= 0.0) return axis.low;
  double at = std::fmod(std::abs(x - axis.low), 2.0 * range);
  if (at > range) at = 2.0 * range - at;
  return axis.low + at;
}

// Brings a coordinate to where elements are; finite, and with zeros at most a few elements outside.
double Bound(double x, const Axis& axis, GridPadding padding) {
  const double last = static_cast<double>(axis.extent - 1);
  if (padding == GridPadding::kZeros) return x > -8.0 ? std::min(x, last + 8.0) : -8.0;  // NaN too
  if (std::isnan(x)) return 0.0;
  if (padding == GridPadding::kBorder || std::isinf(x)) return std::clamp(x, 0.0, last);
  return x < axis.low || x > axis.high ? Reflect(x, axis) : x;
}

// The element that stands at position i; -1: none.
int64_t ElementAt(int64_t i, const Axis& axis, GridPadding padding) {
  if (i >= 0 && i < axis.extent) return i;
  if (padding == GridPadding::kZeros) return -1;
  if (padding == GridPadding::kReflection) i = static_cast<int64_t>(Reflect(static_cast<double>(i), axis));
  return std::clamp<int64_t>(i, 0, axis.extent - 1);
}

}  // namespace

GridRule ParseGridRule(const std::string& mode, const std::string& padding, bool align_corners) {
  return {mode == "nearest" ? GridMode::kNearest
          : mode == "cubic" ? GridMode::kCubic
                            : GridMode::kLinear,
          padding == "zeros"    ? GridPadding::kZeros
          : padding == "border" ? GridPadding::kBorder
                                : GridPadding::kReflection,
          align_corners};
}

GridTaps GridTapsAt(const GridRule& rule, double coordinate, int64_t extent) {
  const double half = rule.align_corners ? 0.0 : 0.5;
  const Axis axis{extent, -half, static_cast<double>(extent - 1) + half};
  double x = Denormalize(coordinate, axis, rule.align_corners);
  if (rule.mode == GridMode::kNearest) {
    const auto at = static_cast<int64_t>(Bound(std::nearbyint(x), axis, rule.padding));
    return {1, {ElementAt(at, axis, rule.padding)}, {1.0}};
  }
  const bool cubic = rule.mode == GridMode::kCubic;
  // Beyond the border, a cubic still blends the last elements with the border's, as in PyTorch and ONNX Runtime.
  x = Bound(x, axis, cubic && rule.padding == GridPadding::kBorder ? GridPadding::kZeros : rule.padding);
  const double floor = std::floor(x);
  const double t = x - floor;
  GridTaps taps{2, {}, {1.0 - t, t}};
  auto first = static_cast<int64_t>(floor);
  if (cubic) {
    constexpr double kA = -0.75;
    const auto outer = [](double d) { return ((kA * d - 5.0 * kA) * d + 8.0 * kA) * d - 4.0 * kA; };
    const auto inner = [](double d) { return ((kA + 2.0) * d - (kA + 3.0)) * d * d + 1.0; };
    taps = {4, {}, {outer(1.0 + t), inner(t), inner(1.0 - t), outer(2.0 - t)}};
    --first;
  }
  for (int i = 0; i < taps.count; ++i) {
    taps.element[static_cast<size_t>(i)] = ElementAt(first + i, axis, rule.padding);
  }
  return taps;
}

}  // namespace wherry
