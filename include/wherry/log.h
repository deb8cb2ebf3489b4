// Where Wherry's log messages go.
#pragma once

#include <cstdint>
#include <string_view>

namespace wherry {

enum class LogLevel : uint8_t {
  kDebug,    // for those who work on Wherry
  kInfo,     // what was decided, and why
  kWarning,  // it goes on, but slower or otherwise than asked
  kError,    // it does not go on, and an Error that says why is on its way
  kOff,      // above every message
};

// "debug", "info", "warning", "error", "off".
const char* ToString(LogLevel level) noexcept;

// Receives messages: derive, and set it with SetLogSink.
class LogSink {
 public:
  // Messages below `least` are not even built.
  explicit LogSink(LogLevel least = LogLevel::kWarning) noexcept : least_(least) {}
  virtual ~LogSink() = default;
  LogSink(const LogSink&) = delete;
  LogSink& operator=(const LogSink&) = delete;

  LogLevel least() const noexcept { return least_; }

  // One message, without a line end. Called by any thread, also by several at once. What it throws is dropped: a log
  // must not change what the program does.
  virtual void Write(LogLevel level, std::string_view message) = 0;

 private:
  const LogLevel least_;
};

// All messages go to `sink` from now on; returns the sink before. nullptr is the default: messages from warning on (or
// from the level that the environment variable WHERRY_LOG_LEVEL names: debug, info, warning, error, off) go to standard
// error.
//
// The sink is not owned. A message that another thread is writing may still arrive at the old sink when this returns,
// so destroy a sink only when no other thread uses Wherry, or never. (This is the one thing in Wherry that a call sets
// for the whole process: messages come from places that know no object.)
LogSink* SetLogSink(LogSink* sink) noexcept;

}  // namespace wherry
