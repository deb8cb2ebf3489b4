#include "base/checked_math.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace wherry {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

TEST(CheckedMathTest, ResultsThatFit) {
  EXPECT_EQ(CheckedAdd<int64_t>(kMax - 1, 1, "x"), kMax);
  EXPECT_EQ(CheckedSub<int64_t>(kMin + 1, 1, "x"), kMin);
  EXPECT_EQ(CheckedMul<int64_t>(int64_t{1} << 31, int64_t{1} << 31, "x"), int64_t{1} << 62);
  EXPECT_EQ(CheckedMul<size_t>(~size_t{0}, 1, "x"), ~size_t{0});
  EXPECT_EQ(CheckedCast<size_t>(kMax, "x"), static_cast<size_t>(kMax));
  EXPECT_EQ(CheckedCast<int8_t>(-128, "x"), -128);
}

TEST(CheckedMathTest, ResultsThatDoNotFitThrow) {
  EXPECT_THROW(CheckedAdd<int64_t>(kMax, 1, "x"), Error);
  EXPECT_THROW(CheckedSub<size_t>(0, 1, "x"), Error);
  EXPECT_THROW(CheckedMul<int64_t>(kMin, -1, "x"), Error);
  EXPECT_THROW(CheckedMul<size_t>(size_t{1} << 32, size_t{1} << 32, "x"), Error);
  EXPECT_THROW(CheckedCast<size_t>(-1, "x"), Error);
  EXPECT_THROW(CheckedCast<int>(kMax, "x"), Error);
  EXPECT_THROW(CheckedCast<int64_t>(~uint64_t{0}, "x"), Error);
}

TEST(CheckedMathTest, TheMessageHasTheValues) {
  try {
    CheckedMul<int32_t>(65536, 65536, "size of tensor 'x'");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kOutOfRange);
    EXPECT_EQ(error.message(), "size of tensor 'x': 65536 * 65536 overflows");
  }
  try {
    CheckedCast<int8_t>(int64_t{200}, "axis");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "axis: 200 does not fit 8 bits");
  }
}

}  // namespace
}  // namespace wherry
