// Special functions of real numbers, to about the precision of a double. NaN gives NaN.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace wherry::ref {

// The inverse of erf: a rough start, then Halley's method, which triples the correct digits each time.
inline double InverseErf(double x) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!(x > -1.0 && x < 1.0)) return x == 1.0 ? kInfinity : x == -1.0 ? -kInfinity : std::nan("");
  if (x == 0.0) return x;
  // Winitzki's approximation, good to 2e-3.
  constexpr double kA = 0.147;
  const double log = std::log1p(-x * x);
  const double half = 2.0 / (std::numbers::pi * kA) + log / 2.0;
  double y = std::copysign(std::sqrt(std::sqrt(half * half - log / kA) - half), x);
  for (int i = 0; i < 3; ++i) {
    // Where erf is near 1, erfc has the digits that the difference needs.
    const double error = std::fabs(x) < 0.5 ? std::erf(y) - x
                         : x > 0.0          ? (1.0 - x) - std::erfc(y)
                                            : std::erfc(-y) - (1.0 + x);
    const double step = error / (2.0 * std::numbers::inv_sqrtpi * std::exp(-y * y));
    y -= step / (1.0 + y * step);
  }
  return y;
}

// log|gamma(x)|. lgamma itself writes the sign to a global, which threads may not.
inline double LogGamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

// The derivative of LogGamma; NaN at its poles 0, -1, -2, ...
inline double Digamma(double x) {
  if (std::isinf(x)) return x > 0.0 ? x : std::nan("");
  double result = 0.0;
  if (x <= 0.0) {
    if (x == std::floor(x)) return std::nan("");
    // digamma(1 - x) - digamma(x) = pi / tan(pi * x); the tangent of the fraction is the same, and exact.
    result = -std::numbers::pi / std::tan(std::numbers::pi * (x - std::floor(x)));
    x = 1.0 - x;
  }
  for (; x < 10.0; x += 1.0) result -= 1.0 / x;
  // log(x) - 1 / (2x) - sum of B(2k) / (2k * x^2k), the Bernoulli numbers over 2k.
  constexpr std::array<double, 7> kTerms = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                            1.0 / 132, -691.0 / 32760, 1.0 / 12};
  const double square = 1.0 / (x * x);
  double sum = 0.0;
  for (size_t k = kTerms.size(); k-- > 0;) sum = (sum + kTerms[k]) * square;
  return result + std::log(x) - 0.5 / x - sum;
}

// exp(-|x|) times the modified Bessel function of the first kind of order 0 or 1.
inline double ScaledBessel(int order, double x) {
  const double size = std::fabs(x);
  const double sign = order == 1 && x < 0.0 ? -1.0 : 1.0;
  if (std::isnan(x)) return x;
  if (std::isinf(x)) return sign * 0.0;
  double term = 1.0;
  double sum = 1.0;
  if (size <= 25.0) {
    // sum of (x/2)^(2k + order) / (k! (k + order)!): all terms are positive.
    const double quarter = size * size / 4.0;
    for (int k = 1; term > sum * 1e-18; ++k) sum += term *= quarter / (static_cast<double>(k) * (k + order));
    return sign * sum * (order == 1 ? size / 2.0 : 1.0) * std::exp(-size);
  }
  // The asymptotic series, whose terms shrink until k is about 2x.
  const double mu = 4.0 * order * order;
  for (int k = 1; k < 40 && std::fabs(term) > 1e-18; ++k) {
    const double odd = 2.0 * k - 1.0;
    sum += term *= (odd * odd - mu) / (8.0 * size * k);
  }
  return sign * sum / std::sqrt(2.0 * std::numbers::pi * size);
}

// The function itself. Half of the exponential each time: the whole overflows long before the product does.
inline double Bessel(int order, double x) {
  if (std::isinf(x)) return order == 1 ? x : std::fabs(x);
  const double half = std::exp(std::fabs(x) / 2.0);
  return ScaledBessel(order, x) * half * half;
}

}  // namespace wherry::ref
