#include "base/aligned_buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "base/sanitizer_test_util.h"

namespace wherry {
namespace {

TEST(AlignedBufferTest, IsAlignedAndWritable) {
  for (size_t size : {1, 63, 64, 65, 100000}) {
    AlignedBuffer buffer(size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 64, 0u);
    EXPECT_EQ(buffer.size(), size);
    std::memset(buffer.data(), 1, size);  // the address sanitizer checks the end
  }
}

TEST(AlignedBufferTest, EmptyHoldsNothing) {
  EXPECT_EQ(AlignedBuffer().data(), nullptr);
  EXPECT_EQ(AlignedBuffer(0).data(), nullptr);
}

TEST(AlignedBufferTest, MovesItsBytes) {
  AlignedBuffer a(8);
  a.As<int32_t>()[1] = 42;
  AlignedBuffer b = std::move(a);
  EXPECT_EQ(std::as_const(b).As<int32_t>()[1], 42);
  EXPECT_EQ(a.size(), 0u);
  EXPECT_EQ(a.data(), nullptr);
  a = std::move(b);
  EXPECT_EQ(a.As<int32_t>()[1], 42);
  EXPECT_EQ(b.size(), 0u);
}

TEST(AlignedBufferTest, TooMuchIsAnError) {
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "sanitizers abort on absurd sizes";
  try {
    AlignedBuffer buffer(std::numeric_limits<size_t>::max() / 2);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kResourceExhausted);
  }
}

}  // namespace
}  // namespace wherry
