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

TEST(StorageTypes, Nibbles) {
  std::vector<uint8_t> bytes(3, 0);
  EncodeStorage(DataType::kInt4, std::vector<double>{-8, 7, -1, 2.9, -104}, true, bytes.data());
  EXPECT_EQ(bytes, (std::vector<uint8_t>{0x78, 0x2F, 0x08}));
  EXPECT_EQ(DecodeStorage(DataType::kInt4, bytes.data(), 5), (std::vector<float>{-8, 7, -1, 2, -8}));
  EXPECT_EQ(DecodeStorage(DataType::kUInt4, bytes.data(), 5), (std::vector<float>{8, 7, 15, 2, 8}));
}

}  // namespace
}  // namespace wherry::ref
