#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <random>
#include <string_view>
#include <vector>

namespace wherry {
namespace {

std::span<const std::byte> Bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

// RFC 3720, appendix B.4, and the catalogue's check value.
TEST(Crc32cTest, KnownValues) {
  EXPECT_EQ(Crc32c(Bytes("123456789")), 0xe3069283u);
  EXPECT_EQ(Crc32c({}), 0u);
  EXPECT_EQ(Crc32c(std::vector<std::byte>(32)), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::vector<std::byte>(32, std::byte{0xff})), 0x62a8ab43u);
  std::vector<std::byte> ascending(32);
  for (size_t i = 0; i < 32; ++i) ascending[i] = static_cast<std::byte>(i);
  EXPECT_EQ(Crc32c(ascending), 0x46dd794eu);
}

TEST(Crc32cTest, BothWaysAgreeAtEveryLengthAndOffset) {
  std::mt19937 random(3);
  std::vector<std::byte> bytes(200);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  for (size_t offset = 0; offset < 9; ++offset) {
    for (size_t size = 0; size + offset <= bytes.size(); ++size) {
      const auto part = std::span(bytes).subspan(offset, size);
      ASSERT_EQ(Crc32c(part, 77), Crc32cPortable(part, 77)) << offset << " " << size;
    }
  }
}

TEST(Crc32cTest, CanBeContinued) {
  EXPECT_EQ(Crc32c(Bytes("456789"), Crc32c(Bytes("123"))), 0xe3069283u);
  EXPECT_EQ(Crc32cPortable(Bytes("9"), Crc32cPortable(Bytes("12345678"))), 0xe3069283u);
}

}  // namespace
}  // namespace wherry
