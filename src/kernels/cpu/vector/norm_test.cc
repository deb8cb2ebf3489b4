#include "kernels/cpu/vector/norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/cpu/simd/isa_test_util.h"

namespace wherry::cpu {
namespace {

std::vector<float> Random(int64_t count, float mean, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(mean, 1.0f);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = normal(generator);
  return values;
}

enum class Affine { kNone, kGain, kBias, kBoth, kPerRun };

void Check(int64_t rows, int64_t cols, float offset, Affine affine, bool rms, ThreadPool* pool) {
  SCOPED_TRACE(testing::Message() << rows << "x" << cols << " +" << offset << " affine " << static_cast<int>(affine)
                                  << (rms ? " rms" : ""));
  const std::vector<float> x = Random(rows * cols, offset, 1);
  // Two runs a row if the columns allow it.
  const int64_t runs = cols % 2 == 0 ? 2 : 1;
  const int64_t affine_count = 3;
  const int64_t affine_size = affine == Affine::kPerRun ? affine_count : cols;
  const std::vector<float> gain = Random(affine_size, 1.0f, 2);
  const std::vector<float> bias = Random(affine_size, 0.0f, 3);
  std::vector<float> y(x.size());
  std::vector<float> mean(static_cast<size_t>(rows));
  std::vector<float> variance(static_cast<size_t>(rows));
  std::vector<float> inverse(static_cast<size_t>(rows));
  NormRows norm;
  norm.x = x.data();
  norm.y = y.data();
  norm.rows = rows;
  norm.cols = cols;
  norm.epsilon = 1e-4f;
  const bool has_gain = affine != Affine::kNone && affine != Affine::kBias;
  const bool has_bias = affine != Affine::kNone && affine != Affine::kGain;
  if (has_gain) norm.gain = gain.data();
  if (has_bias) norm.bias = bias.data();
  norm.affine_run = affine == Affine::kPerRun ? cols / runs : 0;
  norm.affine_count = affine_count;
  norm.mean = mean.data();
  norm.variance = variance.data();
  norm.inverse_deviation = inverse.data();
  (rms ? RmsNorm : LayerNorm)(norm, pool);
  for (int64_t r = 0; r < rows; ++r) {
    double want_mean = 0.0;
    for (int64_t c = 0; c < cols; ++c) want_mean += x[static_cast<size_t>(r * cols + c)];
    want_mean = rms ? 0.0 : want_mean / static_cast<double>(cols);
    double want_variance = 0.0;
    for (int64_t c = 0; c < cols; ++c) {
      want_variance += std::pow(x[static_cast<size_t>(r * cols + c)] - want_mean, 2.0);
    }
    want_variance /= static_cast<double>(cols);
    const double scale = 1.0 / std::sqrt(want_variance + 1e-4);
    const size_t row = static_cast<size_t>(r);
    if (cols == 0) {
      EXPECT_TRUE(std::isnan(inverse[row]));
      continue;
    }
    if (!rms) {
      EXPECT_NEAR(mean[row], want_mean, 1e-6 * std::fabs(offset) + 1e-6);
      EXPECT_NEAR(variance[row], want_variance, 1e-5 * want_variance + 1e-6);
    }
    EXPECT_NEAR(inverse[row], scale, 1e-5 * scale);
    for (int64_t c = 0; c < cols; ++c) {
      const size_t at = static_cast<size_t>(r * cols + c);
      const size_t k =
          static_cast<size_t>(affine == Affine::kPerRun ? (r * runs + c / (cols / runs)) % affine_count : c);
      double want = (x[at] - want_mean) * scale;
      if (has_gain) want *= gain[k];
      if (has_bias) want += bias[k];
      ASSERT_NEAR(y[at], want, 1e-5 * (1.0 + std::fabs(want))) << r << "," << c;
    }
  }
}

TEST(Norm, Shapes) {
  ThreadPool two(2);
  const int64_t shapes[][2] = {{1, 1}, {3, 7}, {2, 16}, {5, 33}, {130, 768}, {4, 1025}, {0, 5}, {5, 0}};
  ForEachIsa([&] {
    for (const auto& s : shapes) {
      for (const Affine affine : {Affine::kNone, Affine::kGain, Affine::kBias, Affine::kBoth, Affine::kPerRun}) {
        Check(s[0], s[1], 0.5f, affine, false, nullptr);
        Check(s[0], s[1], 0.5f, affine, false, &two);
        Check(s[0], s[1], 0.5f, affine, true, &two);
      }
    }
  });
}

TEST(Norm, LargeMeanDoesNotCancel) {
  ForEachIsa([&] {
    Check(2, 1000, 1e4f, Affine::kNone, false, nullptr);
    Check(2, 4096, -3e5f, Affine::kNone, false, nullptr);
  });
}

TEST(Norm, NanStaysInItsRow) {
  std::vector<float> x = Random(2 * 40, 0.0f, 4);
  x[3] = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> y(x.size());
  NormRows norm;
  norm.x = x.data();
  norm.y = y.data();
  norm.rows = 2;
  norm.cols = 40;
  ForEachIsa([&] {
    LayerNorm(norm, nullptr);
    for (size_t i = 0; i < 80; ++i) EXPECT_EQ(std::isnan(y[i]), i < 40);
  });
}

}  // namespace
}  // namespace wherry::cpu
