#include "kernels/cpu/vector/beyond.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "kernels/cpu/simd/isa_test_util.h"

namespace wherry::cpu {
namespace {

TEST(BeyondTest, StopsAtTheBlockOfTheFirst) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  ForEachIsa([] {
    for (const int64_t count : {0, 1, 63, 64, 200}) {
      std::vector<float> x(static_cast<size_t>(count), 1.0F);
      EXPECT_EQ(SkipToBeyond(x.data(), count, 1.0F, true), count);
      EXPECT_EQ(SkipToBeyond(x.data(), count, 1.0F, false), count);
      for (int64_t at = 0; at < count; ++at) {
        for (const float value : {2.0F, kNan}) {
          x[static_cast<size_t>(at)] = value;
          ASSERT_EQ(SkipToBeyond(x.data(), count, 1.0F, true), at / 64 * 64) << count << ", " << at;
        }
        for (const float value : {0.0F, kNan}) {
          x[static_cast<size_t>(at)] = value;
          ASSERT_EQ(SkipToBeyond(x.data(), count, 1.0F, false), at / 64 * 64) << count << ", " << at;
        }
        x[static_cast<size_t>(at)] = 1.0F;
      }
    }
  });
}

}  // namespace
}  // namespace wherry::cpu
