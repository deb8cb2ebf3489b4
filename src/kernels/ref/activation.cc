#include "kernels/ref/activation.h"

#include <cmath>
#include <numbers>

#include "base/check.h"

namespace wherry::ref {
namespace {

double Sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

// Comparisons that are false for NaN, so that it stays.
double Clamp(double x, double low, double high) {
  const double raised = x < low ? low : x;
  return raised > high ? high : raised;
}

double Softplus(double x, double beta, double threshold) {
  return beta * x > threshold ? x : std::log1p(std::exp(beta * x)) / beta;
}

}  // namespace

double Activate(ActKind kind, double x, double a, double b) {
  switch (kind) {
    case ActKind::kIdentity: return x;
    case ActKind::kRelu: return x < 0.0 ? 0.0 : x;
    case ActKind::kClip: return Clamp(x, a, b);
    case ActKind::kLeakyRelu: return x < 0.0 ? a * x : x;
    case ActKind::kElu: return x < 0.0 ? a * std::expm1(x) : x;
    case ActKind::kSigmoid: return Sigmoid(x);
    case ActKind::kTanh: return std::tanh(x);
    case ActKind::kHardSigmoid: return Clamp(a * x + b, 0.0, 1.0);
    case ActKind::kHardSwish: return x * Clamp(x + 3.0, 0.0, 6.0) / 6.0;
    case ActKind::kSwish: return x * Sigmoid(a * x);
    // 1 + erf(y) = erfc(-y), which does not cancel for large negative x.
    case ActKind::kGelu: return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
    // (1 + tanh(u)) / 2 = sigmoid(2 u), which does not cancel either. sqrt(2 / pi) = 0.7978845608028654.
    case ActKind::kGeluTanh: return x * Sigmoid(2.0 * 0.7978845608028654 * (x + 0.044715 * x * x * x));
    case ActKind::kExp: return std::exp(x);
    case ActKind::kSqrt: return std::sqrt(x);
    case ActKind::kAbs: return std::fabs(x);
    case ActKind::kSoftplus: return Softplus(x, a, b);
    case ActKind::kMish: return x * std::tanh(Softplus(x, 1.0, 700.0));  // exp(710) would overflow
    case ActKind::kErf: return std::erf(x);
    case ActKind::kSquare: return x * x;
    case ActKind::kReciprocal: return 1.0 / x;
    case ActKind::kNeg: return -x;
    case ActKind::kLog: return std::log(x);
    case ActKind::kRsqrt: return 1.0 / std::sqrt(x);
    case ActKind::kFloor: return std::floor(x);
    case ActKind::kCeil: return std::ceil(x);
    case ActKind::kRound: return std::nearbyint(x);
    case ActKind::kSign: return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x;
    case ActKind::kLinear: return a * x + b;
  }
  Throw(ErrorCode::kInternal, "bug in Wherry: unknown activation ", static_cast<int>(kind));
}

}  // namespace wherry::ref
