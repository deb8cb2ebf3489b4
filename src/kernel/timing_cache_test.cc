#include "kernel/timing_cache.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "base/file_test_util.h"
#include "base/mapped_file.h"
#include "wherry/error.h"

namespace wherry {
namespace {

using TimingCacheTest = FileTest;

TEST_F(TimingCacheTest, TimesOutliveTheProcess) {
  const std::string path = Path("times");
  TimingCache first(path);
  EXPECT_EQ(first.Find("conv f32[1,3]"), std::nullopt);
  first.Add("conv f32[1,3]", 12.5);
  first.Add("conv f32[1,3]", 11.25);
  first.Save();
  EXPECT_EQ(TimingCache(path).Find("conv f32[1,3]"), 11.25);
  EXPECT_EQ(TimingCache().Find("conv f32[1,3]"), std::nullopt);
}

TEST_F(TimingCacheTest, WritersKeepWhatOthersWrote) {
  const std::string path = Path("times");
  constexpr int kWriters = 8;
  constexpr int kRounds = 20;
  for (int writer = 0; writer < kWriters; ++writer) {
    if (fork() != 0) continue;
    TimingCache cache(path);
    for (int round = 0; round < kRounds; ++round) {
      cache.Add(std::to_string(writer) + " " + std::to_string(round), 1 + writer);
      cache.Save();
    }
    _exit(0);
  }
  for (int writer = 0; writer < kWriters; ++writer) {
    int status = -1;
    wait(&status);
    EXPECT_EQ(status, 0);
  }
  const TimingCache cache(path);
  for (int writer = 0; writer < kWriters; ++writer) {
    for (int round = 0; round < kRounds; ++round) {
      EXPECT_EQ(cache.Find(std::to_string(writer) + " " + std::to_string(round)), 1 + writer);
    }
  }
}

TEST_F(TimingCacheTest, DamageCostsTimesOnly) {
  const std::string path = Path("times");
  WriteText(path, "wherry kernel times 1\n1.5\ta\nno time\nnan\tb\n-1\tc\n0\te\n1e300\tf\n2.5\td\n3.5");
  TimingCache cache(path);
  EXPECT_EQ(cache.Find("a"), 1.5);
  EXPECT_EQ(cache.Find("b"), std::nullopt);
  EXPECT_EQ(cache.Find("c"), std::nullopt);
  EXPECT_EQ(cache.Find("d"), 2.5);
  WriteText(path, "wherry kernel times 0\n1.5\ta\n");
  EXPECT_EQ(TimingCache(path).Find("a"), std::nullopt);
}

TEST_F(TimingCacheTest, WhatIsNoCacheStays) {
  const std::string path = Path("thesis.txt");
  WriteText(path, "something else\n1.5\ta\n");
  EXPECT_EQ(ErrorOf([&] { TimingCache cache{path}; }).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Text(ReadFile(path)), "something else\n1.5\ta\n");
}

TEST_F(TimingCacheTest, AFolderIsAnError) { EXPECT_THROW(TimingCache cache{folder()}, Error); }

}  // namespace
}  // namespace wherry
