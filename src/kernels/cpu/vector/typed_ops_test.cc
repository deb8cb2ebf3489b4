#include "kernels/cpu/vector/typed_ops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "kernels/cpu/simd/isa_test_util.h"

namespace wherry::cpu {
namespace {

constexpr int64_t kCounts[] = {0, 1, 7, 31, 64, 101};

template <typename T>
std::vector<T> Values(int64_t count, int64_t factor) {
  std::vector<T> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<T>(i * factor % 5));
  if (count > 2) values[2] = std::numeric_limits<T>::max();
  if (count > 3) values[3] = std::numeric_limits<T>::lowest();
  if (std::numeric_limits<T>::has_quiet_NaN && count > 30) {
    values[static_cast<size_t>(9 + factor)] = std::numeric_limits<T>::quiet_NaN();
  }
  return values;
}

// out: of T or, for a comparison, uint8_t.
template <typename Out, typename T, typename Expected>
void Check(TypedOp op, DataType dtype, const Expected& expected) {
  for (const int64_t count : kCounts) {
    SCOPED_TRACE(testing::Message() << "op " << static_cast<int>(op) << " on " << ToString(dtype) << ", " << count);
    const std::vector<T> x = Values<T>(count, 3);
    const std::vector<T> y = Values<T>(count, 7);
    std::vector<Out> out(static_cast<size_t>(count) + 1, Out{77});
    TypedTileOf(op, dtype)(x.data(), y.data(), nullptr, out.data(), count);
    for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(out[i], static_cast<Out>(expected(x[i], y[i]))) << i;
    EXPECT_EQ(out.back(), Out{77});
  }
}

template <typename T>
void CheckComparisons(DataType dtype) {
  Check<uint8_t, T>(TypedOp::kEqual, dtype, [](T a, T b) { return a == b; });
  Check<uint8_t, T>(TypedOp::kNotEqual, dtype, [](T a, T b) { return a != b; });
  Check<uint8_t, T>(TypedOp::kLess, dtype, [](T a, T b) { return a < b; });
  Check<uint8_t, T>(TypedOp::kLessEqual, dtype, [](T a, T b) { return a <= b; });
}

template <typename T>
void CheckArithmetic(DataType dtype) {
  using U = std::make_unsigned_t<T>;
  Check<T, T>(TypedOp::kAdd, dtype, [](T a, T b) { return static_cast<U>(a) + static_cast<U>(b); });
  Check<T, T>(TypedOp::kSub, dtype, [](T a, T b) { return static_cast<U>(a) - static_cast<U>(b); });
  Check<T, T>(TypedOp::kMul, dtype, [](T a, T b) { return static_cast<U>(a) * static_cast<U>(b); });
  Check<T, T>(TypedOp::kMax, dtype, [](T a, T b) { return std::max(a, b); });
  Check<T, T>(TypedOp::kMin, dtype, [](T a, T b) { return std::min(a, b); });
}

TEST(TypedOpsTest, Comparisons) {
  ForEachIsa([] {
    CheckComparisons<float>(DataType::kFloat);
    CheckComparisons<int32_t>(DataType::kInt32);
    CheckComparisons<int64_t>(DataType::kInt64);
    CheckComparisons<uint8_t>(DataType::kUInt8);
  });
}

TEST(TypedOpsTest, Arithmetic) {
  ForEachIsa([] {
    CheckArithmetic<int32_t>(DataType::kInt32);
    CheckArithmetic<int64_t>(DataType::kInt64);
  });
}

TEST(TypedOpsTest, OverAnOperand) {
  ForEachIsa([] {
    std::vector<int64_t> x(101, 5);
    const std::vector<int64_t> y = Values<int64_t>(101, 3);
    TypedTileOf(TypedOp::kSub, DataType::kInt64)(y.data(), x.data(), nullptr, x.data(), 101);
    for (size_t i = 4; i < x.size(); ++i) ASSERT_EQ(x[i], y[i] - 5) << i;
  });
}

TEST(TypedOpsTest, Logic) {
  ForEachIsa([] {
    for (const int64_t count : kCounts) {
      std::vector<uint8_t> a;
      std::vector<uint8_t> b;
      for (int64_t i = 0; i < count; ++i) {
        a.push_back(i % 2 == 0 ? 1 : 0);
        b.push_back(i % 3 == 0 ? 1 : 0);
      }
      std::vector<uint8_t> out(a.size());
      const auto run = [&](LogicOp op) { LogicTileOf(op)(a.data(), b.data(), nullptr, out.data(), count); };
      run(LogicOp::kAnd);
      for (size_t i = 0; i < a.size(); ++i) ASSERT_EQ(out[i], a[i] & b[i]) << i;
      run(LogicOp::kOr);
      for (size_t i = 0; i < a.size(); ++i) ASSERT_EQ(out[i], a[i] | b[i]) << i;
      run(LogicOp::kXor);
      for (size_t i = 0; i < a.size(); ++i) ASSERT_EQ(out[i], a[i] ^ b[i]) << i;
      run(LogicOp::kNot);
      for (size_t i = 0; i < a.size(); ++i) ASSERT_EQ(out[i], 1 - a[i]) << i;
    }
  });
}

template <typename Out, typename T, typename Expected>
void CheckUnary(UnaryOp op, DataType dtype, const Expected& expected) {
  for (const int64_t count : kCounts) {
    const std::vector<T> x = Values<T>(count, 3);
    std::vector<Out> out(x.size() + 1, Out{77});
    UnaryTileOf(op, dtype)(x.data(), nullptr, nullptr, out.data(), count);
    for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(out[i], static_cast<Out>(expected(x[i]))) << i;
    EXPECT_EQ(out.back(), Out{77});
  }
}

template <typename T>
void CheckUnaries(DataType dtype) {
  using U = std::make_unsigned_t<T>;
  CheckUnary<T, T>(UnaryOp::kNeg, dtype, [](T v) { return U{0} - static_cast<U>(v); });
  CheckUnary<T, T>(UnaryOp::kAbs, dtype, [](T v) { return v < 0 ? U{0} - static_cast<U>(v) : static_cast<U>(v); });
  CheckUnary<T, T>(UnaryOp::kSign, dtype, [](T v) { return v > 0 ? 1 : v < 0 ? -1 : 0; });
}

TEST(TypedOpsTest, Unary) {
  ForEachIsa([] {
    CheckUnaries<int32_t>(DataType::kInt32);
    CheckUnaries<int64_t>(DataType::kInt64);
    CheckUnary<uint8_t, float>(UnaryOp::kIsInf, DataType::kFloat, [](float v) { return std::isinf(v); });
    const float inf = std::numeric_limits<float>::infinity();
    const float x[] = {inf, -inf};
    uint8_t out[] = {7, 7};
    UnaryTileOf(UnaryOp::kIsInf, DataType::kFloat)(x, nullptr, nullptr, out, 2);
    EXPECT_EQ(out[0], 1);
    EXPECT_EQ(out[1], 1);
  });
}

template <typename T>
void CheckBits() {
  constexpr uint64_t kAll = 8 * sizeof(T);
  for (const int64_t count : kCounts) {
    std::vector<T> x;
    std::vector<T> y;
    for (int64_t i = 0; i < count; ++i) {
      x.push_back(static_cast<T>(i * 0x123456789ABCDEF));
      y.push_back(static_cast<T>(i % 70));
    }
    std::vector<T> out(x.size());
    const auto check = [&](BitOp op, const auto& expected) {
      BitTileOf(op, sizeof(T))(x.data(), y.data(), nullptr, out.data(), count);
      for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(out[i], static_cast<T>(expected(x[i], y[i]))) << i;
    };
    check(BitOp::kAnd, [](uint64_t a, uint64_t b) { return a & b; });
    check(BitOp::kOr, [](uint64_t a, uint64_t b) { return a | b; });
    check(BitOp::kXor, [](uint64_t a, uint64_t b) { return a ^ b; });
    check(BitOp::kNot, [](uint64_t a, uint64_t /*b*/) { return ~a; });
    check(BitOp::kShiftLeft, [](uint64_t a, uint64_t b) { return b < kAll ? a << b : 0; });
    check(BitOp::kShiftRight, [](uint64_t a, uint64_t b) { return b < kAll ? a >> b : 0; });
  }
}

TEST(TypedOpsTest, Bits) {
  ForEachIsa([] {
    CheckBits<uint8_t>();
    CheckBits<uint16_t>();
    CheckBits<uint32_t>();
    CheckBits<uint64_t>();
  });
}

template <typename T>
void CheckSelect() {
  for (const int64_t count : kCounts) {
    std::vector<uint8_t> which;
    for (int64_t i = 0; i < count; ++i) which.push_back(i % 3 == 0 ? 1 : 0);
    const std::vector<T> x(which.size(), T{1});
    const std::vector<T> y(which.size(), T{2});
    std::vector<T> out(which.size());
    SelectTileOf(sizeof(T))(which.data(), x.data(), y.data(), out.data(), count);
    for (size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], which[i] != 0 ? 1 : 2) << i;
  }
}

TEST(TypedOpsTest, Select) {
  ForEachIsa([] {
    CheckSelect<uint8_t>();
    CheckSelect<int16_t>();
    CheckSelect<int32_t>();
    CheckSelect<int64_t>();
  });
}

}  // namespace
}  // namespace wherry::cpu
