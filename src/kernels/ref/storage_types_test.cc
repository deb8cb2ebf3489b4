#include "kernels/ref/storage_types.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace wherry::ref {
namespace {

std::vector<uint8_t> Encode(DataType dtype, const std::vector<double>& values, bool saturate = true) {
  std::vector<uint8_t> bytes(values.size(), 0);
  EncodeStorage(dtype, values, saturate, bytes.data());
  return bytes;
}

// Codes as in the OFP8 specification: 448 and 57344 are the largest values, 2^-9 and 2^-16 the smallest.
TEST(StorageTypes, KnownCodes) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Encode(DataType::kFP8E4M3FN,
                   {0.0, -0.0, 1.0, -1.0, 448.0, 464.0, 1e9, -inf, std::ldexp(1.0, -9), 1.0625, 1.1875}),
            (std::vector<uint8_t>{0x00, 0x80, 0x38, 0xB8, 0x7E, 0x7E, 0x7E, 0xFE, 0x01, 0x38, 0x3A}));
  EXPECT_EQ(
      Encode(DataType::kFP8E5M2, {1.0, 57344.0, 1e9, inf, std::ldexp(1.0, -16), std::ldexp(1.0, -17), 1.125, 1.375}),
      (std::vector<uint8_t>{0x3C, 0x7B, 0x7B, 0x7B, 0x01, 0x00, 0x3C, 0x3E}));
  EXPECT_TRUE(
      std::isnan(DecodeStorage(DataType::kFP8E4M3FN, Encode(DataType::kFP8E4M3FN, {std::nan("")}).data(), 1)[0]));
  const uint8_t infinity = 0xFC;
  EXPECT_EQ(DecodeStorage(DataType::kFP8E5M2, &infinity, 1)[0], -std::numeric_limits<float>::infinity());
}

// 464 and 61440 lie in the middle between the largest value and the one that would follow.
TEST(StorageTypes, OverflowsUnlessItSaturates) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Encode(DataType::kFP8E4M3FN, {448.0, 464.0, 464.1, -1e9, inf}, /*saturate=*/false),
            (std::vector<uint8_t>{0x7E, 0x7E, 0x7F, 0xFF, 0x7F}));
  EXPECT_EQ(Encode(DataType::kFP8E5M2, {57344.0, 61439.0, 61440.0, -1e9, -inf}, /*saturate=*/false),
            (std::vector<uint8_t>{0x7B, 0x7B, 0x7C, 0xFC, 0xFC}));
}

TEST(StorageTypes, EveryCodeReadsBack) {
  for (const DataType dtype : {DataType::kFP8E4M3FN, DataType::kFP8E5M2}) {
    for (int code = 0; code < 256; ++code) {
      const uint8_t byte = static_cast<uint8_t>(code);
      const float value = DecodeStorage(dtype, &byte, 1)[0];
      if (!std::isfinite(value)) continue;
      EXPECT_EQ(Encode(dtype, {static_cast<double>(value)})[0], byte) << ToString(dtype) << " " << value;
    }
  }
}

// Largest values 240, 57344 and 6; without -0, whose code is NaN; powers of two only.
TEST(StorageTypes, OtherFloats) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::nan("");
  EXPECT_EQ(Encode(DataType::kFP8E4M3FNUZ, {9.0, -8.0, 0.25, -0.0, 0.01, inf, nan}),
            (std::vector<uint8_t>{89, 216, 48, 0, 10, 0x7F, 0x80}));
  EXPECT_EQ(Encode(DataType::kFP8E4M3FNUZ, {240.0, 1e9, -inf}, false), (std::vector<uint8_t>{0x7F, 0x80, 0x80}));
  EXPECT_EQ(Encode(DataType::kFP8E5M2FNUZ, {57344.0, -1e9}), (std::vector<uint8_t>{0x7F, 0xFF}));
  EXPECT_EQ(Encode(DataType::kFP8E8M0, {0.0, 0.124, 0.25, 1.1, 2.0, inf, nan}),
            (std::vector<uint8_t>{0, 124, 125, 128, 128, 254, 255}));
  std::vector<uint8_t> nibbles(4, 0);
  EncodeStorage(DataType::kFP4E2M1, std::vector<double>{nan, inf, -inf, 0.25, 0.75, 2.5, 5.0}, true, nibbles.data());
  EXPECT_EQ(nibbles, (std::vector<uint8_t>{0x78, 0x0F, 0x42, 0x06}));
  EXPECT_EQ(DecodeStorage(DataType::kFP4E2M1, nibbles.data(), 7), (std::vector<float>{0, 6, -6, 0, 1, 2, 4}));
}

TEST(StorageTypes, PairsOfBits) {
  std::vector<uint8_t> bytes(2, 0);
  EncodeStorage(DataType::kInt2, std::vector<double>{-2, 1, -1, 0, 3}, true, bytes.data());
  EXPECT_EQ(bytes, (std::vector<uint8_t>{0x36, 0x03}));
  EXPECT_EQ(DecodeStorage(DataType::kInt2, bytes.data(), 5), (std::vector<float>{-2, 1, -1, 0, -1}));
  EXPECT_EQ(DecodeStorage(DataType::kUInt2, bytes.data(), 5), (std::vector<float>{2, 1, 3, 0, 3}));
}

TEST(StorageTypes, Nibbles) {
  std::vector<uint8_t> bytes(3, 0);
  EncodeStorage(DataType::kInt4, std::vector<double>{-8, 7, -1, 2.9, -104}, true, bytes.data());
  EXPECT_EQ(bytes, (std::vector<uint8_t>{0x78, 0x2F, 0x08}));
  EXPECT_EQ(DecodeStorage(DataType::kInt4, bytes.data(), 5), (std::vector<float>{-8, 7, -1, 2, -8}));
  EXPECT_EQ(DecodeStorage(DataType::kUInt4, bytes.data(), 5), (std::vector<float>{8, 7, 15, 2, 8}));
}

}  // namespace
}  // namespace wherry::ref
