#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "kernels/cpu/simd/activation_test_util.h"
#include "kernels/cpu/simd/isa_test_util.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/simd/math_test.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/simd/activation-inl.h"
#include "kernels/cpu/simd/hyperbolic-inl.h"
#include "kernels/cpu/simd/pow-inl.h"
#include "kernels/cpu/simd/remainder-inl.h"
#include "kernels/cpu/simd/trig-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

// x and y have n floats; n is any size, so the partial loads and stores run as well.
template <class Fn>
HWY_INLINE void Map(Fn fn, const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; i += kLanes) {
    const int64_t live = n - i < kLanes ? n - i : kLanes;
    StoreN(fn(LoadN(x + i, live)), y + i, live);
  }
}

struct ExpFn {
  HWY_INLINE FloatVec operator()(FloatVec v) const { return Exp(v); }
};
struct LogFn {
  HWY_INLINE FloatVec operator()(FloatVec v) const { return Log(v); }
};
struct TanhFn {
  HWY_INLINE FloatVec operator()(FloatVec v) const { return Tanh(v); }
};
struct ErfFn {
  HWY_INLINE FloatVec operator()(FloatVec v) const { return Erf(v); }
};
struct SigmoidFn {
  HWY_INLINE FloatVec operator()(FloatVec v) const { return Sigmoid(v); }
};
struct SinFn {
  HWY_INLINE FloatVec operator()(FloatVec v) const { return Sin(v); }
};
struct CosFn {
  HWY_INLINE FloatVec operator()(FloatVec v) const { return Cos(v); }
};
struct TanFn {
  HWY_INLINE FloatVec operator()(FloatVec v) const { return Tan(v); }
};
struct AsinFn {
  HWY_INLINE FloatVec operator()(FloatVec v) const { return Asin(v); }
};
struct AcosFn {
  HWY_INLINE FloatVec operator()(FloatVec v) const { return Acos(v); }
};
struct AtanFn {
  HWY_INLINE FloatVec operator()(FloatVec v) const { return Atan(v); }
};
struct SinhFn {
  HWY_INLINE FloatVec operator()(FloatVec v) const { return Sinh(v); }
};
struct CoshFn {
  HWY_INLINE FloatVec operator()(FloatVec v) const { return Cosh(v); }
};
struct AsinhFn {
  HWY_INLINE FloatVec operator()(FloatVec v) const { return Asinh(v); }
};
struct AcoshFn {
  HWY_INLINE FloatVec operator()(FloatVec v) const { return Acosh(v); }
};
struct AtanhFn {
  HWY_INLINE FloatVec operator()(FloatVec v) const { return Atanh(v); }
};
struct Expm1Fn {
  HWY_INLINE FloatVec operator()(FloatVec v) const { return Expm1(v); }
};
struct Log1pFn {
  HWY_INLINE FloatVec operator()(FloatVec v) const { return Log1p(v); }
};

void MapExp(const float* x, float* y, int64_t n) { Map(ExpFn(), x, y, n); }
void MapLog(const float* x, float* y, int64_t n) { Map(LogFn(), x, y, n); }
void MapTanh(const float* x, float* y, int64_t n) { Map(TanhFn(), x, y, n); }
void MapErf(const float* x, float* y, int64_t n) { Map(ErfFn(), x, y, n); }
void MapSigmoid(const float* x, float* y, int64_t n) { Map(SigmoidFn(), x, y, n); }
void MapSin(const float* x, float* y, int64_t n) { Map(SinFn(), x, y, n); }
void MapCos(const float* x, float* y, int64_t n) { Map(CosFn(), x, y, n); }
void MapTan(const float* x, float* y, int64_t n) { Map(TanFn(), x, y, n); }
void MapAsin(const float* x, float* y, int64_t n) { Map(AsinFn(), x, y, n); }
void MapAcos(const float* x, float* y, int64_t n) { Map(AcosFn(), x, y, n); }
void MapAtan(const float* x, float* y, int64_t n) { Map(AtanFn(), x, y, n); }
void MapSinh(const float* x, float* y, int64_t n) { Map(SinhFn(), x, y, n); }
void MapCosh(const float* x, float* y, int64_t n) { Map(CoshFn(), x, y, n); }
void MapAsinh(const float* x, float* y, int64_t n) { Map(AsinhFn(), x, y, n); }
void MapAcosh(const float* x, float* y, int64_t n) { Map(AcoshFn(), x, y, n); }
void MapAtanh(const float* x, float* y, int64_t n) { Map(AtanhFn(), x, y, n); }
void MapExpm1(const float* x, float* y, int64_t n) { Map(Expm1Fn(), x, y, n); }
void MapLog1p(const float* x, float* y, int64_t n) { Map(Log1pFn(), x, y, n); }

struct PowFn {
  FloatVec y;
  HWY_INLINE FloatVec operator()(FloatVec x) const { return Pow(x, y); }
};
void MapPow(const float* x, float exponent, float* y, int64_t n) { Map(PowFn{Set(exponent)}, x, y, n); }

struct FmodFn {
  FloatVec y;
  HWY_INLINE FloatVec operator()(FloatVec x) const { return Fmod(x, y); }
};
struct RemainderFn {
  FloatVec y;
  HWY_INLINE FloatVec operator()(FloatVec x) const { return FloorRemainder(x, y); }
};
void MapFmod(const float* x, float divisor, float* y, int64_t n) { Map(FmodFn{Set(divisor)}, x, y, n); }
void MapRemainder(const float* x, float divisor, float* y, int64_t n) { Map(RemainderFn{Set(divisor)}, x, y, n); }

struct ActivationMap {
  const Activation& activation;
  const float* x;
  float* y;
  int64_t n;
  template <ActKind kKind>
  struct Fn {
    FloatVec a, b;
    HWY_INLINE FloatVec operator()(FloatVec v) const { return Activate<kKind>(v, a, b); }
  };
  template <ActKind kKind>
  HWY_INLINE void Run() const {
    Map(Fn<kKind>{Set(activation.a), Set(activation.b)}, x, y, n);
  }
};

void MapActivation(const Activation& activation, const float* x, float* y, int64_t n) {
  WithActivation(activation.kind, ActivationMap{activation, x, y, n});
}

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {
namespace {

// Distance between a result and the exact value in units of the exact value's last place (denormal spacing below).
double UlpError(float got, double want) {
  if (std::isnan(want)) return std::isnan(got) ? 0.0 : 1e9;
  const float rounded = static_cast<float>(want);
  if (std::isinf(rounded)) return got == rounded ? 0.0 : 1e9;
  const float magnitude = std::fabs(rounded);
  const double ulp = static_cast<double>(std::nextafter(magnitude, std::numeric_limits<float>::infinity())) - magnitude;
  return std::fabs(got - want) / ulp;
}

// Every 2039th bit pattern (a prime, so that all exponents and signs are met), in blocks of an odd size.
void CheckEverywhere(const std::function<void(const float*, float*, int64_t)>& fn,
                     const std::function<double(double)>& exact, double max_ulp) {
  constexpr int kBlock = 37;
  float x[kBlock];
  float y[kBlock];
  int filled = 0;
  double worst = 0.0;
  float worst_x = 0.0f;
  for (uint64_t bits = 0; bits <= 0xFFFFFFFFu; bits += 2039) {
    x[filled++] = std::bit_cast<float>(static_cast<uint32_t>(bits));
    if (filled < kBlock) continue;
    fn(x, y, kBlock);
    for (int i = 0; i < kBlock; ++i) {
      const double error = UlpError(y[i], exact(x[i]));
      if (error > worst) {
        worst = error;
        worst_x = x[i];
      }
    }
    filled = 0;
  }
  EXPECT_LE(worst, max_ulp) << "at " << worst_x;
}

TEST(Math, ExpWithin2Ulp) {
  ForEachIsa([] {
    CheckEverywhere(
        WHERRY_ISA_CALL(MapExp), [](double x) { return std::exp(x); }, 2.0);
  });
}

TEST(Math, LogWithin2Ulp) {
  ForEachIsa([] {
    CheckEverywhere(
        WHERRY_ISA_CALL(MapLog), [](double x) { return std::log(x); }, 2.0);
  });
}

TEST(Math, TanhWithin3Ulp) {
  ForEachIsa([] {
    CheckEverywhere(
        WHERRY_ISA_CALL(MapTanh), [](double x) { return std::tanh(x); }, 3.0);
  });
}

TEST(Math, ErfWithin3Ulp) {
  ForEachIsa([] {
    CheckEverywhere(
        WHERRY_ISA_CALL(MapErf), [](double x) { return std::erf(x); }, 3.0);
  });
}

// GELU's left tail is a difference of nearly equal numbers: absolute there, as in every framework.
TEST(Math, GeluWithin3e7) {
  const auto check = [](const float* x, int64_t n) {
    std::vector<float> y(static_cast<size_t>(n));
    WHERRY_ISA_CALL(MapActivation)({ActKind::kGelu}, x, y.data(), n);
    for (int64_t i = 0; i < n; ++i) {
      const double wide = x[i];
      const double want = wide * 0.5 * std::erfc(-wide * std::sqrt(0.5));
      if (std::isfinite(want)) {
        // Subnormal results may be the one beside.
        const double limit = 3e-7 * std::fmin(1.0, std::fabs(wide)) + 1.5e-45;
        ASSERT_NEAR(y[i], want, wide > 1 ? 3e-7 * wide : limit) << "x = " << x[i];
      } else {
        ASSERT_TRUE(std::isnan(want) ? std::isnan(y[i]) : y[i] == want) << "x = " << x[i];  // NaN of -inf, inf of inf
      }
    }
  };
  ForEachIsa([&] {
    std::vector<float> x;
    for (uint64_t bits = 0; bits <= 0xFFFFFFFFu; bits += 65537) {
      x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    }
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    x.insert(x.end(), {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(), 0.0F, -0.0F});
    for (int i = -130000; i <= 130000; ++i) x.push_back(static_cast<float>(i) * 1e-4F);
    check(x.data(), std::ssize(x));
  });
}

TEST(Math, SigmoidWithin3Ulp) {
  // Where the result is hardly a normal float any more it may be 0.
  constexpr float kLeast = -87.0f;
  const auto exact = [](double x) { return x < kLeast ? 0.0 : 1.0 / (1.0 + std::exp(-x)); };
  const auto map = [](const float* x, float* y, int64_t n) {
    WHERRY_ISA_CALL(MapSigmoid)(x, y, n);
    for (int64_t i = 0; i < n; ++i) {
      if (x[i] < kLeast && y[i] >= 0.0f && y[i] < 1.7e-38f) y[i] = 0.0f;
    }
  };
  ForEachIsa([&] { CheckEverywhere(map, exact, 3.0); });
}

TEST(Math, SinWithin2Ulp) {
  ForEachIsa([] {
    CheckEverywhere(
        WHERRY_ISA_CALL(MapSin), [](double x) { return std::sin(x); }, 2.0);
  });
}

TEST(Math, CosWithin2Ulp) {
  ForEachIsa([] {
    CheckEverywhere(
        WHERRY_ISA_CALL(MapCos), [](double x) { return std::cos(x); }, 2.0);
  });
}

TEST(Math, TanWithin3Ulp) {
  ForEachIsa([] {
    CheckEverywhere(
        WHERRY_ISA_CALL(MapTan), [](double x) { return std::tan(x); }, 3.0);
  });
}

TEST(Math, AsinWithin3Ulp) {
  ForEachIsa([] {
    CheckEverywhere(
        WHERRY_ISA_CALL(MapAsin), [](double x) { return std::asin(x); }, 3.0);
  });
}

TEST(Math, AcosWithin2Ulp) {
  ForEachIsa([] {
    CheckEverywhere(
        WHERRY_ISA_CALL(MapAcos), [](double x) { return std::acos(x); }, 2.0);
  });
}

TEST(Math, AtanWithin3Ulp) {
  ForEachIsa([] {
    CheckEverywhere(
        WHERRY_ISA_CALL(MapAtan), [](double x) { return std::atan(x); }, 3.0);
  });
}

TEST(Math, HyperbolicWithin3Ulp) {
  ForEachIsa([] {
    CheckEverywhere(
        WHERRY_ISA_CALL(MapSinh), [](double x) { return std::sinh(x); }, 3.0);
    CheckEverywhere(
        WHERRY_ISA_CALL(MapCosh), [](double x) { return std::cosh(x); }, 3.0);
    CheckEverywhere(
        WHERRY_ISA_CALL(MapAsinh), [](double x) { return std::asinh(x); }, 3.0);
    CheckEverywhere(
        WHERRY_ISA_CALL(MapAcosh), [](double x) { return std::acosh(x); }, 3.0);
    CheckEverywhere(
        WHERRY_ISA_CALL(MapAtanh), [](double x) { return std::atanh(x); }, 3.0);
    CheckEverywhere(
        WHERRY_ISA_CALL(MapExpm1), [](double x) { return std::expm1(x); }, 3.0);
    CheckEverywhere(
        WHERRY_ISA_CALL(MapLog1p), [](double x) { return std::log1p(x); }, 3.0);
  });
}

// The floats next to multiples of pi / 2, of which little is left.
TEST(Math, AnglesNearQuarterTurns) {
  ForEachIsa([] {
    double worst = 0.0;
    for (int n = -600000; n <= 600000; n += 7) {
      const float near = static_cast<float>(n * 1.5707963267948966);
      const float x[] = {std::nextafter(near, -1e9f), near, std::nextafter(near, 1e9f)};
      float y[3];
      WHERRY_ISA_CALL(MapSin)(x, y, 3);
      for (int i = 0; i < 3; ++i) worst = std::fmax(worst, UlpError(y[i], std::sin(static_cast<double>(x[i]))));
      WHERRY_ISA_CALL(MapCos)(x, y, 3);
      for (int i = 0; i < 3; ++i) worst = std::fmax(worst, UlpError(y[i], std::cos(static_cast<double>(x[i]))));
    }
    EXPECT_LE(worst, 2.0);
  });
}

TEST(Math, PowWithin1Ulp) {
  ForEachIsa([] {
    for (const float exponent : {0.75f, 3.0f, -30.5f}) {
      CheckEverywhere(
          [&](const float* x, float* y, int64_t n) {
            WHERRY_ISA_CALL(MapPow)
            (x, exponent, y, n);
          },
          [&](double x) { return std::pow(x, static_cast<double>(exponent)); }, 0.54);
    }
  });
}

// Signs, zeros, infinities, NaN and what is between, each to the power of each, are as the C library's.
TEST(Math, PowOfSpecialValues) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float values[] = {0.0f,  -0.0f, 1.0f,  -1.0f, inf,   -inf, nan,         2.0f,        -2.0f,   3.0f,
                          -3.0f, 0.5f,  -0.5f, 2.5f,  -2.5f, 1e9f, 16777217.0f, 16777215.0f, -1e-30f, 1e-42f};
  constexpr int kCount = 20;
  float y[kCount];
  ForEachIsa([&] {
    for (const float exponent : values) {
      WHERRY_ISA_CALL(MapPow)(values, exponent, y, kCount);
      for (int i = 0; i < kCount; ++i) {
        const float want = std::pow(values[i], exponent);
        const std::string what = testing::PrintToString(values[i]) + " to " + testing::PrintToString(exponent);
        if (std::isnan(want)) {
          EXPECT_TRUE(std::isnan(y[i])) << what;
        } else {
          EXPECT_EQ(std::signbit(y[i]), std::signbit(want)) << what;
          EXPECT_LE(UlpError(y[i], want), 1.0) << what << " is " << y[i];
        }
      }
    }
  });
}

// Every 10007th float by others: fmod is exact, and so is what fits a float.
TEST(Math, Remainders) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr int kBlock = 37;
  float x[kBlock];
  float got[kBlock];
  float floored[kBlock];
  ForEachIsa([&] {
    for (const float y : {0.0f, -0.0f, 1.0f, -3.0f, 0.1f, 7e-39f, 16777215.0f, -1e30f, inf, -inf, nan}) {
      SCOPED_TRACE(y);
      for (uint64_t bits = 0; bits <= 0xFFFFFFFFu; bits += 10007 * kBlock) {
        for (int i = 0; i < kBlock; ++i) x[i] = std::bit_cast<float>(static_cast<uint32_t>(bits) + 10007u * i);
        WHERRY_ISA_CALL(MapFmod)(x, y, got, kBlock);
        WHERRY_ISA_CALL(MapRemainder)(x, y, floored, kBlock);
        for (int i = 0; i < kBlock; ++i) {
          const double want = std::fmod(static_cast<double>(x[i]), static_cast<double>(y));
          if (std::isnan(want)) {
            ASSERT_TRUE(std::isnan(got[i]) && std::isnan(floored[i])) << x[i];
            continue;
          }
          ASSERT_EQ(got[i], want) << x[i];
          ASSERT_EQ(std::signbit(got[i]), std::signbit(x[i])) << x[i];
          const double sum = want != 0.0 && (want < 0.0) != (y < 0.0f) ? want + y : want;
          ASSERT_EQ(floored[i], static_cast<float>(sum)) << x[i];
          ASSERT_EQ(std::signbit(floored[i]), std::signbit(y)) << x[i];
        }
      }
    }
  });
}

TEST(Math, SpecialValues) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float x[] = {inf, -inf, nan, 0.0f, -0.0f};
  float y[5];
  ForEachIsa([&] {
    WHERRY_ISA_CALL(MapExp)(x, y, 5);
    EXPECT_EQ(y[0], inf);
    EXPECT_EQ(y[1], 0.0f);
    EXPECT_TRUE(std::isnan(y[2]));
    EXPECT_EQ(y[3], 1.0f);
    WHERRY_ISA_CALL(MapLog)(x, y, 5);
    EXPECT_EQ(y[0], inf);
    EXPECT_TRUE(std::isnan(y[1]));
    EXPECT_TRUE(std::isnan(y[2]));
    EXPECT_EQ(y[3], -inf);
    EXPECT_EQ(y[4], -inf);
    WHERRY_ISA_CALL(MapTanh)(x, y, 5);
    EXPECT_EQ(y[0], 1.0f);
    EXPECT_EQ(y[1], -1.0f);
    EXPECT_TRUE(std::isnan(y[2]));
    WHERRY_ISA_CALL(MapErf)(x, y, 5);
    EXPECT_EQ(y[0], 1.0f);
    EXPECT_EQ(y[1], -1.0f);
    EXPECT_TRUE(std::isnan(y[2]));
    WHERRY_ISA_CALL(MapSigmoid)(x, y, 5);
    EXPECT_EQ(y[0], 1.0f);
    EXPECT_EQ(y[1], 0.0f);
    EXPECT_TRUE(std::isnan(y[2]));
    EXPECT_EQ(y[3], 0.5f);
  });
}

// Those that cross zero give zeros the sign that they have.
TEST(Math, HyperbolicOfZeros) {
  const float x[] = {0.0f, -0.0f};
  float y[2];
  ForEachIsa([&] {
    const auto check = [&](void (*map)(const float*, float*, int64_t)) {
      map(x, y, 2);
      EXPECT_EQ(y[0], 0.0f);
      EXPECT_FALSE(std::signbit(y[0]));
      EXPECT_EQ(y[1], 0.0f);
      EXPECT_TRUE(std::signbit(y[1]));
    };
    check(WHERRY_ISA_CALL(MapSinh));
    check(WHERRY_ISA_CALL(MapAsinh));
    check(WHERRY_ISA_CALL(MapAtanh));
    check(WHERRY_ISA_CALL(MapExpm1));
    check(WHERRY_ISA_CALL(MapLog1p));
  });
}

TEST(Activation, MatchesDouble) {
  const Activation all[] = {
      {ActKind::kIdentity},
      {ActKind::kRelu},
      {ActKind::kClip, -1.5f, 6},
      {ActKind::kLeakyRelu, 0.01f},
      {ActKind::kSigmoid},
      {ActKind::kTanh},
      {ActKind::kHardSigmoid, 0.2f, 0.5f},
      {ActKind::kHardSwish},
      {ActKind::kSwish, 1.0f},
      {ActKind::kGelu},
      {ActKind::kGeluTanh},
      {ActKind::kElu, 0.7f},
      {ActKind::kExp},
      {ActKind::kSqrt},
      {ActKind::kAbs},
      {ActKind::kSoftplus, 1.0f, 20.0f},
      {ActKind::kSoftplus, 2.5f, 3.0f},
      {ActKind::kMish},
      {ActKind::kErf},
      {ActKind::kSquare},
      {ActKind::kReciprocal},
      {ActKind::kNeg},
      {ActKind::kLog},
      {ActKind::kRsqrt},
      {ActKind::kFloor},
      {ActKind::kCeil},
      {ActKind::kRound},
      {ActKind::kSign},
      {ActKind::kLinear, -0.5f, 2.0f},
  };
  constexpr int kCount = 4003;
  float x[kCount];
  float y[kCount];
  for (int i = 0; i < kCount; ++i) x[i] = 12.0f * static_cast<float>(i - kCount / 2) / (kCount / 2);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  ForEachIsa([&] {
    for (const Activation& activation : all) {
      SCOPED_TRACE(static_cast<int>(activation.kind));
      WHERRY_ISA_CALL(MapActivation)(activation, x, y, kCount);
      for (int i = 0; i < kCount; ++i) {
        const double want = ExactActivation(activation, x[i]);
        if (std::isnan(want) || std::isinf(want)) {
          ASSERT_EQ(std::isnan(want), std::isnan(y[i])) << "x = " << x[i];
          continue;
        }
        ASSERT_NEAR(y[i], want, 3e-7 * std::fmax(1.0, std::fabs(want))) << "x = " << x[i];
      }
      WHERRY_ISA_CALL(MapActivation)(activation, &nan, y, 1);
      EXPECT_TRUE(std::isnan(y[0]));
    }
  });
}

}  // namespace
}  // namespace wherry::cpu
#endif  // HWY_ONCE
