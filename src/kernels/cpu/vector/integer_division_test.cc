#include "kernels/cpu/vector/integer_division.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

#include "kernels/cpu/simd/isa_test_util.h"
#include "wherry/error.h"

namespace wherry::cpu {
namespace {

template <typename T>
T Expected(DivisionOp op, T x, T y) {
  const int64_t a = x;
  const int64_t b = y;
  const int64_t rest = a % b;
  const bool down = rest != 0 && (rest < 0) != (b < 0);
  switch (op) {
    case DivisionOp::kQuotient: return static_cast<T>(a / b);
    case DivisionOp::kFloorQuotient: return static_cast<T>(a / b - (down ? 1 : 0));
    case DivisionOp::kRemainder: return static_cast<T>(rest);
    default: return static_cast<T>(down ? rest + b : rest);
  }
}

// Numbers of up to `bits` bits by others, and those where a quotient is nearly a whole number.
template <typename T>
void Check(DataType dtype, int bits) {
  std::mt19937_64 random(1);
  for (const size_t count : {0, 1, 3, 31, 256, 515}) {
    std::vector<T> x(count);
    std::vector<T> y(count);
    for (size_t i = 0; i < count; ++i) {
      x[i] = static_cast<T>(static_cast<int64_t>(random()) >> (64 - bits));
      y[i] = static_cast<T>(static_cast<int64_t>(random()) >> (64 - 1 - static_cast<int>(random() % (bits - 1))));
      if (y[i] == 0) y[i] = static_cast<T>(-3);
      if (i % 3 == 0) x[i] = static_cast<T>(x[i] - x[i] % y[i] - (i % 2 == 0 ? 1 : 0));
    }
    for (int op = 0; op < kDivisionOps; ++op) {
      std::vector<T> out(count + 1, T{77});
      DivisionTileOf(static_cast<DivisionOp>(op), dtype)(x.data(), y.data(), nullptr, out.data(), count);
      for (size_t i = 0; i < count; ++i) {
        ASSERT_EQ(out[i], Expected(static_cast<DivisionOp>(op), x[i], y[i])) << op << ": " << x[i] << ", " << y[i];
      }
      EXPECT_EQ(out.back(), T{77});
    }
  }
}

TEST(IntegerDivisionTest, IsExact) {
  ForEachIsa([] {
    for (const int bits : {8, 20, 31}) Check<int32_t>(DataType::kInt32, bits);
    for (const int bits : {8, 31, 49, 50, 51, 53, 62}) Check<int64_t>(DataType::kInt64, bits);
  });
}

TEST(IntegerDivisionTest, LowestByMinusOneWraps) {
  ForEachIsa([] {
    const int32_t x = std::numeric_limits<int32_t>::min();
    const int32_t y = -1;
    int32_t out = 0;
    DivisionTileOf(DivisionOp::kQuotient, DataType::kInt32)(&x, &y, nullptr, &out, 1);
    EXPECT_EQ(out, x);
    DivisionTileOf(DivisionOp::kFloorRemainder, DataType::kInt32)(&x, &y, nullptr, &out, 1);
    EXPECT_EQ(out, 0);
  });
}

TEST(IntegerDivisionTest, ByZeroIsAnError) {
  ForEachIsa([] {
    const std::vector<int64_t> x(9, 4);
    std::vector<int64_t> y(9, 2);
    y[7] = 0;
    std::vector<int64_t> out(9);
    EXPECT_THROW(DivisionTileOf(DivisionOp::kQuotient, DataType::kInt64)(x.data(), y.data(), nullptr, out.data(), 9),
                 Error);
  });
}

}  // namespace
}  // namespace wherry::cpu
