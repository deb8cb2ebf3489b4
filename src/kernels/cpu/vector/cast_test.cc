#include "kernels/cpu/vector/cast.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/cpu/simd/isa_test_util.h"

namespace wherry::cpu {
namespace {

// Every 65537th float by bits, and numbers of usual sizes.
std::vector<float> Floats() {
  std::vector<float> x;
  for (uint64_t bits = 0; bits <= 0xFFFFFFFFU; bits += 65537)
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  for (int i = -999; i < 1000; ++i) x.push_back(static_cast<float>(i) * 0.37f);
  return x;
}

template <typename To>
To Cut(float x) {
  using Limits = std::numeric_limits<To>;
  if (std::isnan(x)) return 0;
  const double wide = x;
  if (wide >= std::ldexp(1.0, Limits::digits)) return Limits::max();
  return wide <= static_cast<double>(Limits::min()) ? Limits::min() : static_cast<To>(x);
}

template <typename To>
void CheckToInteger(DataType dtype) {
  const std::vector<float> x = Floats();
  std::vector<To> out(x.size());
  CastTileOf(DataType::kFloat, dtype)(x.data(), nullptr, nullptr, out.data(), static_cast<int64_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(out[i], Cut<To>(x[i])) << x[i];
}

TEST(CastTest, FloatsToIntegers) {
  ForEachIsa([] {
    CheckToInteger<int32_t>(DataType::kInt32);
    CheckToInteger<int64_t>(DataType::kInt64);
    CheckToInteger<int8_t>(DataType::kInt8);
    CheckToInteger<uint8_t>(DataType::kUInt8);
  });
}

template <typename Small>
void CheckSmall(DataType dtype) {
  const std::vector<float> x = Floats();
  const auto count = static_cast<int64_t>(x.size());
  std::vector<Small> small(x.size());
  std::vector<float> back(x.size());
  if (const TypedTile to = CastTileOf(DataType::kFloat, dtype)) {
    to(x.data(), nullptr, nullptr, small.data(), count);
  } else {
    for (size_t i = 0; i < x.size(); ++i) small[i] = Small(x[i]);
  }
  CastTileOf(dtype, DataType::kFloat)(small.data(), nullptr, nullptr, back.data(), count);
  for (size_t i = 0; i < x.size(); ++i) {
    const auto want = static_cast<float>(Small(x[i]));
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(back[i])) << x[i];
    } else {
      ASSERT_EQ(std::bit_cast<uint32_t>(back[i]), std::bit_cast<uint32_t>(want)) << x[i];
    }
  }
}

TEST(CastTest, SmallFloats) {
  ForEachIsa([] {
    CheckSmall<Float16>(DataType::kFP16);
    CheckSmall<BFloat16>(DataType::kBF16);
  });
}

TEST(CastTest, BoolsAndSizes) {
  ForEachIsa([] {
    for (const int64_t count : {0, 1, 7, 31, 64, 101}) {
      std::vector<uint8_t> x;
      for (int64_t i = 0; i < count; ++i) x.push_back(i % 3 == 0 ? 1 : 0);
      std::vector<float> out(x.size() + 1, 7.0f);
      CastTileOf(DataType::kBool, DataType::kFloat)(x.data(), nullptr, nullptr, out.data(), count);
      for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(out[i], x[i]) << i;
      EXPECT_EQ(out.back(), 7.0f);
    }
  });
}

}  // namespace
}  // namespace wherry::cpu
