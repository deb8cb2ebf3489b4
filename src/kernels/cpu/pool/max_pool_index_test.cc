#include "kernels/cpu/pool/max_pool_index.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/cpu/simd/isa_test_util.h"

namespace wherry::cpu {
namespace {

// The first of the largest of a window, -1 if it has no pixels.
int64_t Expected(const IndexPoolShape& s, const float* plane, int64_t d, int64_t r, int64_t c) {
  const PoolWindow slices = PoolWindowAt(s.depth, d);
  const PoolWindow rows = PoolWindowAt(s.rows, r);
  const PoolWindow columns = PoolWindowAt(s.columns, c);
  int64_t best = -1;
  for (int64_t z = 0; z < slices.count; ++z) {
    for (int64_t y = 0; y < rows.count; ++y) {
      for (int64_t x = 0; x < columns.count; ++x) {
        const int64_t row = (slices.begin + z * slices.step) * s.rows.in + rows.begin + y * rows.step;
        const int64_t at = row * s.columns.in + columns.begin + x * columns.step;
        const bool better = best < 0 || plane[at] > plane[best] || (std::isnan(plane[at]) && !std::isnan(plane[best]));
        if (better) best = at;
      }
    }
  }
  return best;
}

template <typename Index>
void Check(const IndexPoolShape& s, ThreadPool* pool) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> digits(-4, 4);
  const int64_t pixels = s.depth.in * s.rows.in * s.columns.in;
  std::vector<float> in(static_cast<size_t>(s.planes * pixels));
  constexpr float kSpecial[] = {-0.0F, std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity(),
                                std::numeric_limits<float>::infinity()};
  for (size_t i = 0; i < in.size(); ++i) in[i] = i % 7 == 0 ? kSpecial[i / 7 % 4] : static_cast<float>(digits(random));
  const int64_t windows = s.depth.out * s.rows.out * s.columns.out;
  std::vector<float> out(static_cast<size_t>(s.planes * windows));
  std::vector<Index> mask(out.size());
  std::vector<char> scratch(MaxPoolIndexScratch(s, pool == nullptr ? 1 : pool->threads()));
  MaxPoolWithIndex(s, in.data(), out.data(), mask.data(), scratch.data(), pool);
  for (int64_t i = 0; i < s.planes * windows; ++i) {
    const int64_t row = i / s.columns.out;
    const float* const plane = in.data() + i / windows * pixels;
    const int64_t best = Expected(s, plane, row / s.rows.out % s.depth.out, row % s.rows.out, i % s.columns.out);
    ASSERT_EQ(mask[static_cast<size_t>(i)], best) << i;
    const float got = out[static_cast<size_t>(i)];
    if (best < 0) {
      ASSERT_EQ(got, -std::numeric_limits<float>::infinity()) << i;
    } else {
      ASSERT_TRUE(got == plane[best] || (std::isnan(got) && std::isnan(plane[best]))) << i;
    }
  }
}

PoolAxis Axis(int64_t in, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation = 1) {
  PoolAxis axis{in, 0, kernel, stride, dilation, padding, padding, false};
  axis.out = (in + 2 * padding - (kernel - 1) * dilation - 1) / stride + 1;
  return axis;
}

TEST(MaxPoolIndexTest, MatchesPlainLoops) {
  const PoolAxis adaptive{.in = 37, .out = 9, .adaptive = true};
  const IndexPoolShape shapes[] = {
      {3, PoolAxis::Global(1), Axis(6, 2, 2, 0), Axis(67, 2, 2, 0)},
      {2, PoolAxis::Global(1), Axis(9, 3, 2, 1), Axis(5, 3, 2, 1)},
      {1, Axis(4, 2, 1, 1), Axis(6, 3, 1, 1, 2), Axis(33, 3, 2, 4, 3)},
      {1, Axis(3, 1, 1, 0), PoolAxis::Global(5), adaptive},
      {1, Axis(2, 1, 3, 2), Axis(2, 1, 1, 2), Axis(9, 1, 2, 3)},  // windows of padding
  };
  ThreadPool pool(2);
  ForEachIsa([&] {
    for (const IndexPoolShape& shape : shapes) {
      SCOPED_TRACE(testing::Message() << "width " << shape.columns.in);
      Check<int64_t>(shape, nullptr);
      Check<int32_t>(shape, &pool);
    }
  });
}

}  // namespace
}  // namespace wherry::cpu
