// Shared by the shape of prior boxes and their kernel.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace wherry {

// 1, and each ratio that is not there yet; with `flip` its inverse behind it.
inline std::vector<double> ExpandAspectRatios(const std::vector<double>& ratios, bool flip) {
  std::vector<double> all = {1.0};
  for (const double ratio : ratios) {
    const bool known = std::any_of(all.begin(), all.end(), [&](double r) { return std::fabs(ratio - r) < 1e-6; });
    if (known) continue;
    all.push_back(ratio);
    if (flip) all.push_back(1.0 / ratio);
  }
  return all;
}

}  // namespace wherry
