#include "core/buffer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "base/file_test_util.h"

namespace wherry {
namespace {

using BufferTest = FileTest;

TEST_F(BufferTest, PartOfAFileIsReadAgainAfterDiscarding) {
  std::string content(1 << 20, 'a');
  content.replace(500000, 5, "hello");
  WriteText(Path("a"), content);
  std::shared_ptr<Buffer> buffer;
  {
    const FileBytes file(Path("a"), MappedFile::Open(Path("a")));
    buffer = Buffer::OfFile(file, file.data.subspan(500000, 500000), 1);
  }  // the buffer keeps the mapping
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(buffer->size(), 500000U);
    EXPECT_EQ(std::memcmp(buffer->data(), content.data() + 500000, buffer->size()), 0);
    buffer->Discard();
  }
}

TEST_F(BufferTest, DeferredBytesAreMadeWhenAskedFor) {
  int made = 0;
  const auto buffer = Buffer::Deferred(4, [&made](void* to) {
    ++made;
    std::memcpy(to, "abcd", 4);
  });
  EXPECT_TRUE(buffer->is_deferred());
  char copy[4];
  buffer->CopyTo(copy);
  EXPECT_EQ(std::string(copy, 4), "abcd");
  EXPECT_TRUE(buffer->is_deferred());
  void* const data = buffer->data();
  EXPECT_EQ(std::memcmp(data, "abcd", 4), 0);
  EXPECT_FALSE(buffer->is_deferred());
  EXPECT_EQ(buffer->data(), data);
  buffer->CopyTo(copy);
  EXPECT_EQ(made, 2);
}

TEST_F(BufferTest, PartsOfDeferredBytes) {
  char copy[3] = "";
  const auto whole = Buffer::Deferred(4, [](void* to) { std::memcpy(to, "abcd", 4); });
  EXPECT_FALSE(whole->CopyPart(copy, 1, 2));
  whole->data();
  EXPECT_TRUE(whole->CopyPart(copy, 1, 2));
  EXPECT_EQ(std::string(copy), "bc");

  const auto write_part = [](void* to, size_t offset, size_t bytes) {
    std::memcpy(to, &"efgh"[offset], bytes);
    return true;
  };
  const auto parts = Buffer::Deferred(
      4, [](void* to) { std::memcpy(to, "efgh", 4); }, write_part);
  EXPECT_TRUE(parts->CopyPart(copy, 2, 2));
  EXPECT_EQ(std::string(copy), "gh");
  EXPECT_TRUE(parts->is_deferred());
}

TEST_F(BufferTest, PartsOfAFileThatLiesUnaligned) {
  alignas(8) const char content[] = "0abcdefgh";
  const FileBytes file("in memory", std::as_bytes(std::span<const char>(content)), nullptr);
  char copy[3] = "";
  const auto buffer = Buffer::OfFile(file, file.data.subspan(1, 8), 4);
  ASSERT_TRUE(buffer->is_deferred());
  EXPECT_TRUE(buffer->CopyPart(copy, 4, 2));
  EXPECT_EQ(std::string(copy), "ef");
  // What is to be checked is read whole.
  const auto checked = Buffer::OfFile(file, file.data.subspan(1, 8), 4, [] {});
  ASSERT_TRUE(checked->is_deferred());
  EXPECT_FALSE(checked->CopyPart(copy, 4, 2));
}

TEST_F(BufferTest, BytesOfAFileAreCheckedOnceBeforeTheyAreRead) {
  const std::string content(100, 'a');
  const FileBytes file("in memory", std::as_bytes(std::span<const char>(content)), nullptr);
  int checks = 0;
  bool damaged = true;
  const auto buffer = Buffer::OfFile(file, file.data, 1, [&] {
    ++checks;
    if (damaged) throw Error(ErrorCode::kCorrupt, "damaged");
  });
  EXPECT_EQ(checks, 0);
  EXPECT_FALSE(buffer->is_deferred());
  for (int i = 0; i < 2; ++i) EXPECT_EQ(ErrorOf([&] { buffer->data(); }).code(), ErrorCode::kCorrupt);
  damaged = false;
  for (int i = 0; i < 2; ++i) EXPECT_EQ(buffer->data(), content.data());
  EXPECT_EQ(checks, 3);
}

TEST_F(BufferTest, DiscardingOtherMemoryChangesNothing) {
  const std::string content(100000, 'a');
  const auto owner = std::make_shared<const std::string>(content);
  const FileBytes file("in memory", std::as_bytes(std::span<const char>(*owner)), owner);
  const auto part = Buffer::OfFile(file, file.data, 1);
  part->Discard();
  EXPECT_EQ(std::memcmp(part->data(), content.data(), content.size()), 0);

  const auto buffer = HostAllocator().Allocate(10 << 20);  // whole large pages among it
  std::memset(buffer->data(), 7, buffer->size());
  buffer->Discard();
  EXPECT_EQ(static_cast<const char*>(buffer->data())[9 << 20], 7);
}

}  // namespace
}  // namespace wherry
