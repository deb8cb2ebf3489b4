#include "conformance/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "conformance/make_tensor.h"

namespace wherry::conformance {

namespace {

double RootMeanSquare(const std::vector<double>& values) {
  double sum = 0;
  size_t count = 0;
  for (double value : values) {
    if (!std::isfinite(value)) continue;
    sum += value * value;
    ++count;
  }
  return count == 0 ? 0 : std::sqrt(sum / static_cast<double>(count));
}

// How far apart they are; infinitely, if one is finite and the other is not.
double Distance(double got, double expected) {
  if (got == expected || (std::isnan(got) && std::isnan(expected))) return 0;
  if (!std::isfinite(got) || !std::isfinite(expected)) return std::numeric_limits<double>::infinity();
  return std::fabs(got - expected);
}

std::string ShapeDifference(const DenseTensor& got, const DenseTensor& expected) {
  if (got.shape() == expected.shape()) return "";
  return StrCat("shape ", got.shape().DebugString(), " instead of ", expected.shape().DebugString());
}

}  // namespace

double ToleranceFor(const Tolerance& tolerance, DataType dtype) {
  switch (dtype) {
    case DataType::kFP64: return tolerance.f64;
    case DataType::kFloat: return tolerance.f32;
    case DataType::kFP16: return tolerance.f16;
    case DataType::kBF16: return tolerance.bf16;
    default: return 0;
  }
}

std::string Difference(const DenseTensor& got, const DenseTensor& expected, double tolerance, bool elementwise) {
  if (std::string difference = ShapeDifference(got, expected); !difference.empty()) return difference;
  const std::vector<double> a = ToDoubles(got);
  // What the result's type cannot hold is not expected of it: compare with the expectation in that type.
  const std::vector<double> b = ToDoubles(ConvertTensor(expected, got.dtype(), DataLayout::kNCHW));
  const double scale = elementwise ? std::min(1.0, RootMeanSquare(b)) : RootMeanSquare(b);
  size_t bad = 0;
  size_t worst = 0;
  double worst_excess = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double distance = Distance(a[i], b[i]);
    if (distance == 0 || (std::isfinite(distance) && distance <= tolerance * std::max(std::fabs(b[i]), scale)))
      continue;
    ++bad;
    if (distance > worst_excess) {
      worst_excess = distance;
      worst = i;
    }
  }
  if (bad == 0) return "";
  return StrCat(bad, " of ", a.size(), " elements differ; element ", worst, " is ", a[worst], ", expected ", b[worst],
                " (tolerance ", tolerance, ", scale ", scale, ")");
}

}  // namespace wherry::conformance
