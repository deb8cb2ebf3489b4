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
    buffer = Buffer::OfFile(file, file.data.subspan(500000, 500000));
  }  // the buffer keeps the mapping
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(buffer->size(), 500000U);
    EXPECT_EQ(std::memcmp(buffer->data(), content.data() + 500000, buffer->size()), 0);
    buffer->Discard();
  }
}

TEST_F(BufferTest, DiscardingOtherMemoryChangesNothing) {
  const std::string content(100000, 'a');
  const auto owner = std::make_shared<const std::string>(content);
  const FileBytes file("in memory", std::as_bytes(std::span<const char>(*owner)), owner);
  const auto part = Buffer::OfFile(file, file.data);
  part->Discard();
  EXPECT_EQ(std::memcmp(part->data(), content.data(), content.size()), 0);

  const auto buffer = HostAllocator().Allocate(10 << 20);  // whole large pages among it
  std::memset(buffer->data(), 7, buffer->size());
  buffer->Discard();
  EXPECT_EQ(static_cast<const char*>(buffer->data())[9 << 20], 7);
}

}  // namespace
}  // namespace wherry
