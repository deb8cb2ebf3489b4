#include "kernels/cpu/vector/softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "kernels/cpu/simd/isa_test_util.h"

namespace wherry::cpu {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> Random(int64_t count) {
  std::mt19937 generator(5);
  std::normal_distribution<float> normal(0.0f, 6.0f);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = normal(generator);
  return values;
}

void Check(int64_t outer, int64_t axis, int64_t inner, bool log, ThreadPool* pool) {
  SCOPED_TRACE(testing::Message() << outer << "x" << axis << "x" << inner << " log " << log);
  const std::vector<float> x = Random(outer * axis * inner);
  std::vector<float> y = x;  // in place
  (log ? LogSoftmax : Softmax)(y.data(), y.data(), outer, axis, inner, pool);
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      const auto at = [&](int64_t a) { return static_cast<size_t>((o * axis + a) * inner + i); };
      double max = -kInf;
      for (int64_t a = 0; a < axis; ++a) max = std::fmax(max, x[at(a)]);
      double sum = 0.0;
      for (int64_t a = 0; a < axis; ++a) sum += std::exp(x[at(a)] - max);
      for (int64_t a = 0; a < axis; ++a) {
        const double want = log ? x[at(a)] - max - std::log(sum) : std::exp(x[at(a)] - max) / sum;
        ASSERT_NEAR(y[at(a)], want, log ? 1e-5 : 1e-6 * want + 1e-9) << o << "," << a << "," << i;
      }
    }
  }
}

TEST(Softmax, Shapes) {
  ThreadPool two(2);
  const int64_t shapes[][3] = {{1, 1, 1},    {3, 5, 1},   {2, 16, 1},    {7, 33, 1},  {1, 1000, 1}, {40, 128, 1},
                               {500, 10, 1}, {2, 7, 3},   {1, 21, 1000}, {3, 4, 17},  {50, 30, 16}, {0, 5, 1},
                               {5, 0, 1},    {5, 3, 0},   {2, 3000, 9},  {200, 1, 1}, {130, 3, 1},  {65, 8, 1},
                               {64, 17, 1},  {70, 31, 1}, {63, 32, 1}};
  ForEachIsa([&] {
    for (const auto& s : shapes) {
      for (const bool log : {false, true}) {
        Check(s[0], s[1], s[2], log, nullptr);
        Check(s[0], s[1], s[2], log, &two);
      }
    }
  });
}

TEST(Softmax, NonFinite) {
  ForEachIsa([&] {
    for (const auto& [outer, inner] : {std::pair<int64_t, int64_t>{1, 1}, {1, 2}, {3, 1}}) {
      // Each softmax has 20 elements; of several the others are left harmless.
      const auto run = [outer = outer, inner = inner](float special, float rest) {
        std::vector<float> x(static_cast<size_t>(20 * outer * inner), rest);
        x[static_cast<size_t>(18 * inner)] = special;
        Softmax(x.data(), x.data(), outer, 20, inner, nullptr);
        if (outer > 1 && rest == 1.0f) {
          EXPECT_NEAR(x[20], 1.0f / 20, 1e-7);
        }
        return x;
      };
      std::vector<float> y = run(kNan, 1.0f);
      for (size_t i = 0; i < 20; ++i) EXPECT_TRUE(std::isnan(y[i * static_cast<size_t>(inner)]));
      y = run(kInf, 1.0f);
      EXPECT_TRUE(std::isnan(y[18 * static_cast<size_t>(inner)]));
      y = run(-kInf, 1.0f);
      EXPECT_EQ(y[18 * static_cast<size_t>(inner)], 0.0f);
      EXPECT_NEAR(y[0], 1.0f / 19, 1e-7);
      y = run(-kInf, -kInf);
      EXPECT_TRUE(std::isnan(y[0]));
      y = run(1e30f, -1e30f);
      EXPECT_EQ(y[18 * static_cast<size_t>(inner)], 1.0f);
    }
  });
}

}  // namespace
}  // namespace wherry::cpu
