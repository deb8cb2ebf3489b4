// The one exception type of Wherry.
//
// Everything that depends on input (files, models, shapes, arguments, the machine) is reported by throwing Error;
// nothing aborts. A broken internal invariant is an Error too, with code kInternal and a message that says it is a bug.
#pragma once

#include <exception>
#include <string>
#include <vector>

namespace wherry {

enum class ErrorCode {
  kInvalidArgument,    // the caller passed something wrong: a shape, dtype, name, option
  kNotFound,           // a file, tensor, operator, kernel or pass of that name does not exist
  kAlreadyExists,      // a registration or file name is taken
  kUnsupported,        // valid, but Wherry (or this build, or this machine) cannot do it
  kCorrupt,            // a file's bytes contradict its format
  kOutOfRange,         // a value or index lies outside what is allowed
  kResourceExhausted,  // memory or another limit was reached
  kUnavailable,        // a device, library or driver is not there
  kCancelled,          // the user cancelled the run
  kInternal,           // a bug in Wherry
};

// "invalid argument", "not found", ...
const char* ToString(ErrorCode code) noexcept;

// Value type; thread-safe as any value. what() stays valid until the object is changed or destroyed.
class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string message);

  ErrorCode code() const noexcept { return code_; }
  // The message alone, without the context.
  const std::string& message() const noexcept { return message_; }
  // What was being done, innermost first: "running pass fc_fuse_pass", "loading 'a.onnx'".
  const std::vector<std::string>& context() const noexcept { return context_; }
  // One line: the message, then every context: "MESSAGE (while A; while B)".
  const char* what() const noexcept override { return what_.c_str(); }

  // Adds a step on the way up; `doing` reads after "while". Returns *this, so `throw` can follow.
  Error& AddContext(const std::string& doing);

 private:
  ErrorCode code_;
  std::string message_;
  std::vector<std::string> context_;
  std::string what_;
};

}  // namespace wherry
