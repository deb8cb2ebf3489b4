// Throwing Errors: message building and the two checks.
#pragma once

#include <sstream>
#include <string>

#include "wherry/error.h"

namespace wherry {

// Concatenates anything that streams: StrCat("got ", 3, " of ", name).
template <typename... Args>
std::string StrCat(const Args&... args) {
  std::ostringstream out;
  (out << ... << args);
  return out.str();
}

template <typename... Args>
[[noreturn]] void Throw(ErrorCode code, const Args&... args) {
  throw Error(code, StrCat(args...));
}

}  // namespace wherry

// For input: WHERRY_ENFORCE(axis < rank, kInvalidArgument, "softmax: axis ", axis, " of rank ", rank);
// The message is built only on failure.
#define WHERRY_ENFORCE(condition, code, ...)                   \
  do {                                                         \
    if (!(condition)) [[unlikely]] {                           \
      ::wherry::Throw(::wherry::ErrorCode::code, __VA_ARGS__); \
    }                                                          \
  } while (false)

// For Wherry's own invariants: a failure is a bug and says so.
#define WHERRY_CHECK(condition, ...)                                                                           \
  do {                                                                                                         \
    if (!(condition)) [[unlikely]] {                                                                           \
      ::wherry::Throw(::wherry::ErrorCode::kInternal, "bug in Wherry: " #condition " failed at " __FILE__ ":", \
                      __LINE__, ": ", __VA_ARGS__);                                                            \
    }                                                                                                          \
  } while (false)
