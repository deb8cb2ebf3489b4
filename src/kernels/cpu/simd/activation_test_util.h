// For tests: activations in double.
#pragma once

#include <cmath>

#include "kernels/cpu/simd/activation.h"

namespace wherry::cpu {

inline double ExactActivation(const Activation& activation, double x) {
  const double a = activation.a;
  const double b = activation.b;
  const auto clip = [](double v, double lo, double hi) { return std::fmin(hi, std::fmax(v, lo)); };
  switch (activation.kind) {
    case ActKind::kIdentity: return x;
    case ActKind::kRelu: return x > 0 ? x : 0.0;
    case ActKind::kClip: return clip(x, a, b);
    case ActKind::kLeakyRelu: return x < 0 ? a * x : x;
    case ActKind::kSigmoid: return 1.0 / (1.0 + std::exp(-x));
    case ActKind::kTanh: return std::tanh(x);
    case ActKind::kHardSigmoid: return clip(a * x + b, 0.0, 1.0);
    case ActKind::kHardSwish: return x * clip(x / 6 + 0.5, 0.0, 1.0);
    case ActKind::kSwish: return x / (1.0 + std::exp(-a * x));
    case ActKind::kGelu: return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0)));
    case ActKind::kGeluTanh: {
      const double u = 0.7978845608028654 * (x + 0.044715 * x * x * x);
      return 0.5 * x * (1.0 + std::tanh(u));
    }
    case ActKind::kElu: return x < 0 ? a * std::expm1(x) : x;
    case ActKind::kExp: return std::exp(x);
    case ActKind::kSqrt: return std::sqrt(x);
    case ActKind::kAbs: return std::fabs(x);
    case ActKind::kSoftplus: return a * x > b ? x : std::log1p(std::exp(a * x)) / a;
    case ActKind::kMish: return x * std::tanh(std::log1p(std::exp(x)));
    case ActKind::kErf: return std::erf(x);
    case ActKind::kSquare: return x * x;
    case ActKind::kReciprocal: return 1.0 / x;
    case ActKind::kNeg: return -x;
    case ActKind::kLog: return std::log(x);
    case ActKind::kRsqrt: return 1.0 / std::sqrt(x);
    case ActKind::kFloor: return std::floor(x);
    case ActKind::kCeil: return std::ceil(x);
    case ActKind::kRound: return std::nearbyint(x);
    case ActKind::kSign: return x > 0 ? 1.0 : x < 0 ? -1.0 : x;
    case ActKind::kLinear: return a * x + b;
  }
  return 0.0;
}

}  // namespace wherry::cpu
