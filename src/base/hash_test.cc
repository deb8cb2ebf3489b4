#include "base/hash.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <unordered_set>

namespace wherry {
namespace {

// Stored fingerprints rest on these: a change is a change of format. First output of SplitMix64 with seed 0.
TEST(HashTest, NeverChanges) {
  static_assert(HashMix(0) == 0xe220a8397b1dcdafu);
  EXPECT_EQ(HashString(""), HashMix(0xcbf29ce484222325u));
  EXPECT_EQ(HashString("a"), HashMix(0xaf63dc4c8601ec8cu));  // FNV-1a of "a"
}

TEST(HashTest, OrderMatters) {
  EXPECT_NE(HashCombine(HashCombine(0, 1), 2), HashCombine(HashCombine(0, 2), 1));
  EXPECT_NE(HashCombine(0, 0), HashCombine(HashCombine(0, 0), 0));
}

TEST(HashTest, SmallNumbersSpread) {
  std::unordered_set<uint64_t> seen;
  int bits = 0;
  for (uint64_t i = 0; i < 10000; ++i) {
    seen.insert(HashCombine(0, i));
    bits += std::popcount(HashCombine(0, i) ^ HashCombine(0, i + 1));
  }
  EXPECT_EQ(seen.size(), 10000u);
  EXPECT_NEAR(bits / 10000.0, 32, 1);
}

}  // namespace
}  // namespace wherry
