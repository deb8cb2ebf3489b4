// Where roi_align takes its samples. Shared by its kernels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace wherry {

// One sample along one axis: two pixels with weights.
struct RoiSample {
  int64_t low;
  int64_t high;
  double low_weight;
  double high_weight;
};

// Calls fn for each sample of one part of a region along one axis that does not lie outside the image, and returns how
// many there would be. ratio 0: one for each pixel.
template <typename Fn>
double ForEachRoiSample(double begin, double size, int64_t ratio, int64_t extent, const Fn& fn) {
  if (!std::isfinite(begin) || !std::isfinite(size) || extent == 0) return 0.0;
  const double count = ratio > 0 ? static_cast<double>(ratio) : std::max(0.0, std::ceil(size));
  const double step = size / count;
  // Far outside there may be any number of them: only those from -1 to the extent are walked.
  double first = 0.0;
  if (step > 0.0) first = std::max(0.0, std::floor((-1.0 - begin) / step - 0.5));
  constexpr double kCountable = 1e15;  // beyond, adding 1 changes nothing
  if (first > kCountable) return count;
  for (double i = first; i < count; ++i) {
    double x = begin + (i + 0.5) * step;
    if (step > 0.0 && x > static_cast<double>(extent)) break;
    if (!(x >= -1.0 && x <= static_cast<double>(extent))) continue;
    x = std::max(x, 0.0);
    const auto low = static_cast<int64_t>(x);
    if (low >= extent - 1) {
      fn(RoiSample{extent - 1, extent - 1, 1.0, 0.0});
    } else {
      const double t = x - static_cast<double>(low);
      fn(RoiSample{low, low + 1, 1.0 - t, t});
    }
  }
  return count;
}

}  // namespace wherry
