#include "base/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <span>
#include <string>

#include "base/file_test_util.h"
#include "base/mapped_file.h"
#include "wherry/file.h"

namespace wherry {
namespace {

using AtomicFileTest = FileTest;

TEST_F(AtomicFileTest, LargeFileInManyPieces) {
  std::string expected;
  {
    AtomicFile file(Path("large"));
    for (int i = 0; i < 3000; ++i) {
      // Pieces below and above the size of the buffer.
      const std::string piece(i % 1000 == 999 ? 300000 : static_cast<size_t>(i % 700), static_cast<char>('a' + i % 26));
      file.Write(piece);
      expected += piece;
      ASSERT_EQ(file.size(), expected.size());
    }
    const std::string patch = "PATCH";
    file.WriteAt(5, std::as_bytes(std::span(patch)));
    expected.replace(5, 5, patch);
    file.Write("end");
    expected += "end";
    EXPECT_THROW(file.WriteAt(expected.size() - 2, std::as_bytes(std::span(patch))), Error);
    file.Commit();
  }
  EXPECT_TRUE(Text(ReadFile(Path("large"))) == expected);
  EXPECT_TRUE(Text(MappedFile::Open(Path("large"))->bytes()) == expected);
}

TEST_F(AtomicFileTest, WithoutCommitNothingChanges) {
  WriteText(Path("a"), "old");
  {
    AtomicFile file(Path("a"));
    file.Write(std::string(1 << 20, 'x'));
    EXPECT_EQ(FilesInFolder(), 2u);
    EXPECT_EQ(Text(ReadFile(Path("a"))), "old");
  }
  EXPECT_EQ(Text(ReadFile(Path("a"))), "old");
  EXPECT_EQ(FilesInFolder(), 1u);
}

TEST_F(AtomicFileTest, ASignalHandlerRemovesWhatIsHalfWritten) {
  WriteText(Path("a"), "old");
  {
    AtomicFile first(Path("a"));
    AtomicFile second(Path("b"));
    EXPECT_EQ(FilesInFolder(), 3u);
    RemoveTemporaryFiles();
    EXPECT_EQ(FilesInFolder(), 1u);
    EXPECT_EQ(ErrorOf([&] { first.Commit(); }).code(), ErrorCode::kNotFound);
  }
  EXPECT_EQ(Text(ReadFile(Path("a"))), "old");
  EXPECT_EQ(FilesInFolder(), 1u);
  WriteFile(Path("b"), "new");
  RemoveTemporaryFiles();
  EXPECT_EQ(Text(ReadFile(Path("b"))), "new");
}

TEST_F(AtomicFileTest, WritingAfterCommitIsABug) {
  AtomicFile file(Path("a"));
  file.Commit();
  EXPECT_EQ(ErrorOf([&] {
              file.Write("x");
              file.Commit();
            }).code(),
            ErrorCode::kInternal);
}

TEST_F(AtomicFileTest, ALinkStaysALink) {
  WriteText(Path("target"), "old");
  std::filesystem::create_symlink("target", Path("link"));
  WriteText(Path("link"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(Path("link")));
  EXPECT_EQ(Text(ReadFile(Path("target"))), "new");
}

TEST_F(AtomicFileTest, WhatMustNotBeReplacedIsNot) {
  EXPECT_EQ(ErrorOf([&] { AtomicFile file("/dev/null"); }).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(ErrorOf([&] { AtomicFile file(folder()); }).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(ErrorOf([&] { AtomicFile file(""); }).code(), ErrorCode::kInvalidArgument);
  const Error error = ErrorOf([&] { AtomicFile file(Path("no/such/folder")); });
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_EQ(error.message(), "cannot write '" + Path("no/such/folder") + "': No such file or directory (errno 2)");
}

TEST_F(AtomicFileTest, TheFileHasTheUsualMode) {
  WriteText(Path("a"), "x");
  const mode_t mask = umask(0);
  umask(mask);
  struct stat status;
  ASSERT_EQ(stat(Path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0666 & ~mask);
}

TEST_F(AtomicFileTest, AFullDiskIsAnErrorAndLeavesNothing) {
  // A limit on file sizes stands in for a full disk; SIGXFSZ would come with it.
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  rlimit small = old;
  small.rlim_cur = 1000;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Error error = ErrorOf([&] { WriteText(Path("a"), std::string(5000, 'x')); });
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(error.code(), ErrorCode::kResourceExhausted);
  EXPECT_EQ(FilesInFolder(), 0u);
}

}  // namespace
}  // namespace wherry
