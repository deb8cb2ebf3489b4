// Writing log messages: WHERRY_LOG(kWarning) << "op " << name << " has no kernel for opencl, x86 is used";
#pragma once

#include <sstream>

#include "wherry/log.h"

namespace wherry {

// One load, and one comparison.
bool LogEnabled(LogLevel level) noexcept;

// Gathers one message and sends it when destroyed. Use WHERRY_LOG.
class LogMessage {
 public:
  explicit LogMessage(LogLevel level) : level_(level) {}
  ~LogMessage();
  LogMessage(const LogMessage&) = delete;
  LogMessage& operator=(const LogMessage&) = delete;

  std::ostream& stream() noexcept { return stream_; }

 private:
  const LogLevel level_;
  std::ostringstream stream_;
};

// The default sink's level, from the text of WHERRY_LOG_LEVEL (nullptr when it is not set): warning when it names none,
// and then *valid is false.
LogLevel ParseLogLevel(const char* text, bool* valid) noexcept;

namespace internal {

// Gives both branches of WHERRY_LOG the type void; & binds weaker than <<.
struct LogVoid {
  void operator&(std::ostream&) const noexcept {}
};

}  // namespace internal
}  // namespace wherry

// What is streamed is evaluated only if the level is on.
#define WHERRY_LOG(level)                          \
  !::wherry::LogEnabled(::wherry::LogLevel::level) \
      ? static_cast<void>(0)                       \
      : ::wherry::internal::LogVoid() & ::wherry::LogMessage(::wherry::LogLevel::level).stream()
