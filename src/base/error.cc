#include "wherry/error.h"

#include <utility>

namespace wherry {

const char* ToString(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kInvalidArgument: return "invalid argument";
    case ErrorCode::kNotFound: return "not found";
    case ErrorCode::kAlreadyExists: return "already exists";
    case ErrorCode::kUnsupported: return "unsupported";
    case ErrorCode::kCorrupt: return "corrupt";
    case ErrorCode::kOutOfRange: return "out of range";
    case ErrorCode::kResourceExhausted: return "resource exhausted";
    case ErrorCode::kUnavailable: return "unavailable";
    case ErrorCode::kCancelled: return "cancelled";
    case ErrorCode::kInternal: return "internal";
  }
  return "unknown error code";
}

Error::Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)), what_(message_) {}

Error& Error::AddContext(const std::string& doing) {
  context_.push_back(doing);
  what_ = message_;
  const char* separator = " (while ";
  for (const std::string& step : context_) {
    what_.append(separator).append(step);
    separator = "; while ";
  }
  what_.push_back(')');
  return *this;
}

}  // namespace wherry
