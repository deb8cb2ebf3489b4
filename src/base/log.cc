#include "base/log.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace wherry {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): a process has one log
constinit std::atomic<LogSink*> current_sink{nullptr};

void WriteToStandardError(LogLevel level, std::string_view message) {
  // One call, so that lines of several threads do not mix.
  std::string line = "wherry: ";
  line.append(ToString(level)).append(": ").append(message).append("\n");
  std::fwrite(line.data(), 1, line.size(), stderr);
}

LogLevel DefaultLevel() noexcept {
  static const LogLevel level = [] {
    const char* text = std::getenv("WHERRY_LOG_LEVEL");
    bool valid = false;
    const LogLevel parsed = ParseLogLevel(text, &valid);
    if (!valid) {
      WriteToStandardError(LogLevel::kWarning,
                           "WHERRY_LOG_LEVEL is none of debug, info, warning, error, off; warning is taken");
    }
    return parsed;
  }();
  return level;
}

}  // namespace

const char* ToString(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::kDebug: return "debug";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarning: return "warning";
    case LogLevel::kError: return "error";
    case LogLevel::kOff: return "off";
  }
  return "unknown log level";
}

LogSink* SetLogSink(LogSink* sink) noexcept { return current_sink.exchange(sink, std::memory_order_acq_rel); }

LogLevel ParseLogLevel(const char* text, bool* valid) noexcept {
  *valid = true;
  if (text == nullptr) return LogLevel::kWarning;
  for (LogLevel level : {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning, LogLevel::kError, LogLevel::kOff}) {
    if (std::string_view(text) == ToString(level)) return level;
  }
  *valid = false;
  return LogLevel::kWarning;
}

bool LogEnabled(LogLevel level) noexcept {
  const LogSink* sink = current_sink.load(std::memory_order_acquire);
  return level >= (sink != nullptr ? sink->least() : DefaultLevel());
}

LogMessage::~LogMessage() {
  try {
    const std::string message = stream_.str();
    if (LogSink* sink = current_sink.load(std::memory_order_acquire)) {
      sink->Write(level_, message);
    } else {
      WriteToStandardError(level_, message);
    }
  } catch (...) {
    // LogSink::Write documents that it is dropped.
  }
}

}  // namespace wherry
