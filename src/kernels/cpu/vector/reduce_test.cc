#include "kernels/cpu/vector/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/cpu/simd/isa_test_util.h"

namespace wherry::cpu {
namespace {

constexpr ReduceKind kAll[] = {ReduceKind::kSum, ReduceKind::kMean, ReduceKind::kMax, ReduceKind::kMin,
                               ReduceKind::kProd};
constexpr double kInf = std::numeric_limits<double>::infinity();

double Exact(ReduceKind kind, const std::vector<float>& x, int64_t at, int64_t axis, int64_t inner) {
  double sum = 0.0, max = -kInf, min = kInf, prod = 1.0;
  for (int64_t a = 0; a < axis; ++a) {
    const double v = x[static_cast<size_t>(at + a * inner)];
    sum += v;
    max = std::fmax(max, v);
    min = std::fmin(min, v);
    prod *= v;
  }
  switch (kind) {
    case ReduceKind::kSum: return sum;
    case ReduceKind::kMean: return sum / static_cast<double>(axis);
    case ReduceKind::kMax: return max;
    case ReduceKind::kMin: return min;
    case ReduceKind::kProd: return prod;
  }
  return 0.0;
}

void Check(ReduceKind kind, int64_t outer, int64_t axis, int64_t inner, ThreadPool* pool) {
  SCOPED_TRACE(testing::Message() << static_cast<int>(kind) << ": " << outer << "x" << axis << "x" << inner);
  std::mt19937 generator(9);
  // Products of up to 100 000 factors must stay in range.
  std::uniform_real_distribution<float> uniform(0.999f, 1.001f);
  std::vector<float> x(static_cast<size_t>(outer * axis * inner));
  for (float& v : x) v = uniform(generator);
  std::vector<float> y(static_cast<size_t>(outer * inner));
  Reduce(kind, x.data(), y.data(), outer, axis, inner, pool);
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      const double want = Exact(kind, x, o * axis * inner + i, axis, inner);
      const float got = y[static_cast<size_t>(o * inner + i)];
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(got));
      } else if (std::isinf(want)) {
        ASSERT_EQ(got, want);
      } else {
        // A product rounds at every factor.
        const double tolerance = kind == ReduceKind::kProd ? 4e-6 + 1e-9 * static_cast<double>(axis) : 1e-6;
        ASSERT_NEAR(got, want, tolerance * std::fabs(want)) << o << "," << i;
      }
    }
  }
}

TEST(Reduce, Shapes) {
  const int64_t shapes[][3] = {{1, 1, 1},    {3, 7, 1},     {2, 100, 1},   {1, 300000, 1}, {500, 33, 1}, {2, 5, 3},
                               {2, 49, 64},  {1, 200, 130}, {3, 1000, 70}, {4, 0, 1},      {4, 0, 6},    {0, 5, 5},
                               {1, 0, 1},    {130, 1, 1},   {200, 2, 1},   {150, 3, 1},    {70, 4, 1},   {65, 7, 1},
                               {129, 16, 1}, {64, 31, 1},   {66, 32, 1}};
  ThreadPool two(2);
  ForEachIsa([&] {
    for (const auto& s : shapes) {
      for (const ReduceKind kind : kAll) {
        Check(kind, s[0], s[1], s[2], nullptr);
        Check(kind, s[0], s[1], s[2], &two);
      }
    }
  });
}

TEST(Reduce, NanStaysInItsShortRow) {
  ForEachIsa([&] {
    for (int64_t at = 0; at < 70 * 5; at += 3) {
      std::vector<float> x(70 * 5, 1.0f);
      x[static_cast<size_t>(at)] = std::numeric_limits<float>::quiet_NaN();
      std::vector<float> y(70);
      for (const ReduceKind kind : kAll) {
        Reduce(kind, x.data(), y.data(), 70, 5, 1, nullptr);
        for (int64_t o = 0; o < 70; ++o) ASSERT_EQ(std::isnan(y[static_cast<size_t>(o)]), o == at / 5) << at;
      }
    }
  });
}

TEST(Reduce, NanIsNotLost) {
  ForEachIsa([&] {
    for (const int64_t inner : {int64_t{1}, int64_t{3}}) {
      for (int64_t at = 0; at < 70; ++at) {
        std::vector<float> x(static_cast<size_t>(70 * inner), 1.0f);
        x[static_cast<size_t>(at * inner)] = std::numeric_limits<float>::quiet_NaN();
        float y[3];
        for (const ReduceKind kind : kAll) {
          Reduce(kind, x.data(), y, 1, 70, inner, nullptr);
          ASSERT_TRUE(std::isnan(y[0])) << static_cast<int>(kind) << " at " << at;
          if (inner > 1) {
            ASSERT_FALSE(std::isnan(y[1]));
          }
        }
      }
    }
  });
}

TEST(Reduce, LongSumsKeepTheirDigits) {
  const std::vector<float> x(1 << 22, 0.1f);
  ForEachIsa([&] {
    float y = 0.0f;
    Reduce(ReduceKind::kMean, x.data(), &y, 1, static_cast<int64_t>(x.size()), 1, nullptr);
    EXPECT_NEAR(y, 0.1, 1e-7);
  });
}

}  // namespace
}  // namespace wherry::cpu
