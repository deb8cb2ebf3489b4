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

// The Hurwitz zeta function for whole s > 1 and positive x: terms one by one, then Euler and Maclaurin's formula for
// the rest.
inline double Zeta(int s, double x) {
  constexpr int kTerms = 12;
  double sum = 0.0;
  for (int i = 0; i < kTerms; ++i, x += 1.0) sum += std::pow(x, -s);
  // Bernoulli's numbers over factorials: B(2k) / (2k)!
  constexpr double kFactors[] = {1.0 / 12.0,         -1.0 / 720.0,     1.0 / 30240.0,
                                 -1.0 / 1209600.0,   1.0 / 47900160.0, -691.0 / 1307674368000.0,
                                 1.0 / 74724249600.0};
  double power = std::pow(x, -s);
  sum += power * x / (s - 1.0) + power / 2.0;
  double rising = s;  // s (s + 1) ... over the powers of x
  power /= x;
  for (int k = 0; k < 7; ++k) {
    sum += kFactors[k] * rising * power;
    rising *= (s + 2.0 * k + 1.0) * (s + 2.0 * k + 2.0);
    power /= x * x;
  }
  return sum;
}

// The n-th derivative of digamma; NaN where x is not positive, but for n = 0.
inline double Polygamma(int n, double x) {
  if (n == 0) return Digamma(x);
  if (n < 0 || !(x > 0.0)) return std::nan("");
  return (n % 2 == 0 ? -1.0 : 1.0) * std::tgamma(n + 1.0) * Zeta(n + 1, x);
}

// The upper incomplete gamma function over the whole: one minus a series for small x, else a continued fraction
// (Lentz).
inline double UpperGamma(double a, double x) {
  if (std::isnan(a) || std::isnan(x) || a < 0.0 || x < 0.0) return std::nan("");
  if (x == 0.0) return a == 0.0 ? std::nan("") : 1.0;
  if (a == 0.0) return 0.0;
  if (std::isinf(a)) return std::isinf(x) ? std::nan("") : 1.0;
  if (std::isinf(x)) return 0.0;
  const double front = std::exp(a * std::log(x) - x - LogGamma(a));
  constexpr int kMostTerms = 10000;
  constexpr double kEnough = 1e-16;
  if (x < a + 1.0) {
    double term = 1.0 / a;
    double sum = term;
    for (int i = 1; i < kMostTerms && std::fabs(term) > kEnough * std::fabs(sum); ++i) sum += term *= x / (a + i);
    return 1.0 - front * sum;
  }
  constexpr double kTiny = 1e-300;
  double b = x + 1.0 - a;
  double c = 1.0 / kTiny;
  double d = 1.0 / b;
  double fraction = d;
  for (int i = 1; i < kMostTerms; ++i) {
    const double numerator = -i * (i - a);
    b += 2.0;
    d = numerator * d + b;
    if (std::fabs(d) < kTiny) d = kTiny;
    c = b + numerator / c;
    if (std::fabs(c) < kTiny) c = kTiny;
    d = 1.0 / d;
    fraction *= d * c;
    if (std::fabs(d * c - 1.0) < kEnough) break;
  }
  return front * fraction;
}

}  // namespace wherry::ref
