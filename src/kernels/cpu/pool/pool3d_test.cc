#include "kernels/cpu/pool/pool3d.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/cpu/simd/isa_test_util.h"

namespace wherry::cpu {
namespace {

constexpr float kUntouched = 12345.0f;

PoolAxis Axis(int64_t in, int64_t kernel, int64_t stride, int64_t before, int64_t after, int64_t dilation = 1) {
  PoolAxis axis{in, 0, kernel, stride, dilation, before, after, false};
  axis.out = (in + before + after - (kernel - 1) * dilation - 1) / stride + 1;
  return axis;
}

double Expected(const VolumePoolShape& s, const std::vector<float>& in, int64_t volume, int64_t d, int64_t r,
                int64_t c) {
  const PoolWindow slices = PoolWindowAt(s.depth, d);
  const PoolWindow rows = PoolWindowAt(s.rows, r);
  const PoolWindow columns = PoolWindowAt(s.columns, c);
  double sum = 0.0;
  double largest = -std::numeric_limits<double>::infinity();
  for (int64_t z = 0; z < slices.count; ++z) {
    for (int64_t y = 0; y < rows.count; ++y) {
      for (int64_t x = 0; x < columns.count; ++x) {
        const int64_t slice = volume * s.depth.in + slices.begin + z * slices.step;
        const int64_t row = slice * s.rows.in + rows.begin + y * rows.step;
        const double value = in[static_cast<size_t>(row * s.columns.in + columns.begin + x * columns.step)];
        sum += value;
        largest = std::isnan(largest) || value < largest ? largest : value;
      }
    }
  }
  if (s.kind == PoolKind::kMax) return largest;
  if (s.kind == PoolKind::kSum) return sum;
  const bool padded = s.kind == PoolKind::kAverageWithPadding;
  const int64_t count = padded ? slices.padded_count * rows.padded_count * columns.padded_count
                               : slices.count * rows.count * columns.count;
  return count > 0 ? sum / static_cast<double>(count) : 0.0;
}

void Check(VolumePoolShape s, ThreadPool* pool) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> in(static_cast<size_t>(s.volumes * s.depth.in * s.rows.in * s.columns.in));
  for (float& x : in) x = normal(random);
  if (s.kind == PoolKind::kMax) in[in.size() / 2] = std::numeric_limits<float>::quiet_NaN();
  const int64_t count = s.volumes * s.depth.out * s.rows.out * s.columns.out;
  std::vector<float> out(static_cast<size_t>(count) + 1, kUntouched);
  Pool3d(s, in.data(), out.data(), pool);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = i / s.columns.out;
    const double want = Expected(s, in, row / s.rows.out / s.depth.out, row / s.rows.out % s.depth.out,
                                 row % s.rows.out, i % s.columns.out);
    const float got = out[static_cast<size_t>(i)];
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(got)) << i;
    } else if (std::isinf(want)) {
      ASSERT_EQ(got, want) << i;
    } else {
      ASSERT_NEAR(got, want, 3e-6) << i;
    }
  }
  EXPECT_EQ(out.back(), kUntouched);
}

TEST(Pool3dTest, MatchesPlainLoops) {
  const VolumePoolShape shapes[] = {
      {PoolKind::kMax, 2, Axis(4, 2, 2, 0, 0), Axis(6, 2, 2, 0, 0), Axis(67, 2, 2, 0, 0)},
      {PoolKind::kMax, 1, Axis(3, 3, 1, 1, 1), Axis(5, 3, 2, 1, 1), Axis(37, 3, 1, 1, 1)},
      {PoolKind::kMax, 1, Axis(3, 2, 1, 0, 0, 2), Axis(5, 2, 1, 0, 0, 3), Axis(41, 3, 3, 4, 4, 2)},
      {PoolKind::kMax, 3, Axis(2, 1, 1, 0, 0), Axis(3, 1, 1, 0, 0), Axis(1, 1, 1, 0, 0)},
      {PoolKind::kMax, 1, Axis(1, 1, 1, 0, 0), Axis(2, 2, 1, 0, 0), Axis(5000, 5, 2, 3, 3)},
      {PoolKind::kMax, 1, Axis(2, 1, 3, 2, 2), Axis(2, 1, 1, 0, 0), Axis(9, 1, 2, 3, 3)},  // windows of padding
  };
  ThreadPool pool(2);
  ForEachIsa([&] {
    for (VolumePoolShape shape : shapes) {
      for (const PoolKind kind : {PoolKind::kMax, PoolKind::kAverage, PoolKind::kAverageWithPadding, PoolKind::kSum}) {
        shape.kind = kind;
        SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", width " << shape.columns.in);
        Check(shape, nullptr);
        Check(shape, &pool);
      }
    }
  });
}

}  // namespace
}  // namespace wherry::cpu
