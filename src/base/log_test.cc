#include "base/log.h"

#include <gtest/gtest.h>

#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace wherry {
namespace {

class Recorder : public LogSink {
 public:
  using LogSink::LogSink;
  void Write(LogLevel level, std::string_view message) override {
    std::lock_guard lock(mutex);
    messages.emplace_back(level, message);
  }

  std::mutex mutex;
  std::vector<std::pair<LogLevel, std::string>> messages;
};

// Sets a sink for the length of a scope.
class WithSink {
 public:
  explicit WithSink(LogSink* sink) : old_(SetLogSink(sink)) {}
  ~WithSink() { SetLogSink(old_); }

 private:
  LogSink* old_;
};

TEST(LogTest, MessagesReachTheSinkFromItsLevelOn) {
  Recorder recorder(LogLevel::kInfo);
  WithSink with(&recorder);
  WHERRY_LOG(kDebug) << "no";
  WHERRY_LOG(kInfo) << "picked " << 3 << " kernels";
  WHERRY_LOG(kError) << "bad";
  using Message = std::pair<LogLevel, std::string>;
  EXPECT_EQ(recorder.messages,
            (std::vector<Message>{{LogLevel::kInfo, "picked 3 kernels"}, {LogLevel::kError, "bad"}}));
}

TEST(LogTest, WhatIsOffIsNotEvaluated) {
  Recorder recorder(LogLevel::kOff);
  WithSink with(&recorder);
  int evaluated = 0;
  WHERRY_LOG(kError) << ++evaluated;
  EXPECT_EQ(evaluated, 0);
  EXPECT_TRUE(recorder.messages.empty());
}

TEST(LogTest, IsOneStatement) {
  Recorder recorder(LogLevel::kDebug);
  WithSink with(&recorder);
  bool other = false;
  if (recorder.messages.empty())
    WHERRY_LOG(kInfo) << "then";
  else
    other = true;
  EXPECT_FALSE(other);
  EXPECT_EQ(recorder.messages.size(), 1u);
}

TEST(LogTest, SetReturnsTheSinkBefore) {
  Recorder first, second;
  LogSink* const before = SetLogSink(&first);
  EXPECT_EQ(SetLogSink(&second), &first);
  EXPECT_EQ(SetLogSink(before), &second);
}

TEST(LogTest, AThrowingSinkDoesNotHarm) {
  class Thrower : public LogSink {
    void Write(LogLevel, std::string_view) override { throw std::runtime_error("disk full"); }
  } thrower;
  WithSink with(&thrower);
  EXPECT_NO_THROW(WHERRY_LOG(kError) << "x");
}

TEST(LogTest, ManyThreads) {
  Recorder recorder;
  WithSink with(&recorder);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int j = 0; j < 100; ++j) WHERRY_LOG(kWarning) << j;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(recorder.messages.size(), 400u);
}

TEST(LogTest, DefaultWritesWarningsToStandardError) {
  WithSink with(nullptr);
  if (LogEnabled(LogLevel::kInfo) || !LogEnabled(LogLevel::kWarning)) GTEST_SKIP() << "WHERRY_LOG_LEVEL is set";
  testing::internal::CaptureStderr();
  WHERRY_LOG(kInfo) << "quiet";
  WHERRY_LOG(kWarning) << "loud";
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "wherry: warning: loud\n");
}

TEST(LogTest, LevelsFromTheEnvironment) {
  bool valid = false;
  EXPECT_EQ(ParseLogLevel(nullptr, &valid), LogLevel::kWarning);
  EXPECT_TRUE(valid);
  EXPECT_EQ(ParseLogLevel("debug", &valid), LogLevel::kDebug);
  EXPECT_EQ(ParseLogLevel("off", &valid), LogLevel::kOff);
  EXPECT_TRUE(valid);
  EXPECT_EQ(ParseLogLevel("verbose", &valid), LogLevel::kWarning);
  EXPECT_FALSE(valid);
}

}  // namespace
}  // namespace wherry
