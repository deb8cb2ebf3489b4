#include "kernels/cpu/vector/wide_sum.h"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/cpu/simd/isa_test_util.h"

namespace wherry::cpu {
namespace {

TEST(WideSumTest, AddsEach) {
  ForEachIsa([] {
    for (const size_t n : {0, 1, 3, 8, 15, 70}) {
      std::vector<float> from(n);
      std::vector<double> to(n + 1, 1e-9);
      for (size_t i = 0; i < n; ++i) from[i] = static_cast<float>(i) + 0.1F;
      ActiveAddWide()(from.data(), to.data(), static_cast<int64_t>(n));
      for (size_t i = 0; i < n; ++i) EXPECT_EQ(to[i], 1e-9 + static_cast<double>(from[i])) << i << " of " << n;
      EXPECT_EQ(to[n], 1e-9);
    }
  });
}

}  // namespace
}  // namespace wherry::cpu
