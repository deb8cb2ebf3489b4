#include "base/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "base/file_test_util.h"

namespace wherry {
namespace {

using MappedFileTest = FileTest;

TEST_F(MappedFileTest, WhatIsWrittenIsRead) {
  WriteText(Path("a"), "hello");
  EXPECT_EQ(Text(ReadFile(Path("a"))), "hello");
  const auto mapped = MappedFile::Open(Path("a"));
  EXPECT_EQ(Text(mapped->bytes()), "hello");
  EXPECT_EQ(mapped->size(), 5u);
  EXPECT_EQ(mapped->path(), Path("a"));
  EXPECT_EQ(FilesInFolder(), 1u);
}

TEST_F(MappedFileTest, EmptyFile) {
  WriteText(Path("empty"), "");
  EXPECT_TRUE(ReadFile(Path("empty")).empty());
  const auto mapped = MappedFile::Open(Path("empty"));
  EXPECT_EQ(mapped->size(), 0u);
  EXPECT_EQ(mapped->data(), nullptr);
  mapped->Drop(0, 0);
}

TEST_F(MappedFileTest, MissingFileSaysSo) {
  for (const Error& error :
       {ErrorOf([&] { MappedFile::Open(Path("nothing")); }), ErrorOf([&] { ReadFile(Path("nothing")); })}) {
    EXPECT_EQ(error.code(), ErrorCode::kNotFound);
    EXPECT_EQ(error.message(), "cannot open '" + Path("nothing") + "': No such file or directory (errno 2)");
  }
}

TEST_F(MappedFileTest, FoldersDevicesAndPipesAreRefused) {
  EXPECT_NE(ErrorOf([&] { MappedFile::Open(folder()); }).message().find("it is a folder"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { ReadFile("/dev/zero"); }).message().find("not a regular file"), std::string::npos);
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(ErrorOf([&] { MappedFile::Open(Path("pipe")); }).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(ErrorOf([&] { ReadFile(std::string("a\0b", 3)); }).code(), ErrorCode::kInvalidArgument);
}

TEST_F(MappedFileTest, FilesThatHideTheirSizeAreRead) { EXPECT_FALSE(ReadFile("/proc/self/status").empty()); }

// Pages of the mapping that hold memory now.
size_t ResidentPages(const MappedFile& file) {
  size_t pages = 0;
  std::ifstream maps("/proc/self/smaps");
  bool ours = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find(file.path()) != std::string::npos) ours = true;
    if (ours && line.rfind("Rss:", 0) == 0) {
      pages = std::stoul(line.substr(4)) * 1024 / static_cast<size_t>(sysconf(_SC_PAGESIZE));
      break;
    }
  }
  return pages;
}

TEST_F(MappedFileTest, DropGivesPagesBackAndTheyComeAgain) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  std::string content(page * 40 + 100, '\0');
  for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 31 + i / page);
  WriteText(Path("pages"), content);
  const auto mapped = MappedFile::Open(Path("pages"));
  ASSERT_TRUE(Text(mapped->bytes()) == content);
  ASSERT_EQ(ResidentPages(*mapped), 41u);
  mapped->Drop(1, page * 10);  // pages 1 to 9 are whole
  EXPECT_EQ(ResidentPages(*mapped), 32u);
  mapped->Drop(page * 20, content.size() - page * 20);  // to the end: the last page too
  EXPECT_EQ(ResidentPages(*mapped), 11u);
  mapped->Drop(5, 10);  // no whole page
  EXPECT_TRUE(Text(mapped->bytes()) == content);
  EXPECT_THROW(mapped->Drop(content.size() + 1, 0), Error);
  EXPECT_THROW(mapped->Drop(1, content.size()), Error);
  EXPECT_THROW(mapped->Drop(5, ~size_t{0}), Error);
}

TEST_F(MappedFileTest, AMappingOutlivesTheFile) {
  WriteText(Path("a"), "old");
  const auto mapped = MappedFile::Open(Path("a"));
  WriteText(Path("a"), "new contents");
  EXPECT_EQ(Text(mapped->bytes()), "old");
  EXPECT_EQ(Text(ReadFile(Path("a"))), "new contents");
}

}  // namespace
}  // namespace wherry
