#include "base/system_error.h"

#include <cerrno>
#include <system_error>

#include "base/check.h"

namespace wherry {
namespace {

ErrorCode CodeOf(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR: return ErrorCode::kNotFound;
    case EEXIST: return ErrorCode::kAlreadyExists;
    case EISDIR:
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP: return ErrorCode::kInvalidArgument;
    case ENOMEM:
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE: return ErrorCode::kResourceExhausted;
    default: return ErrorCode::kUnavailable;
  }
}

}  // namespace

void ThrowSystemError(int error, const std::string& doing) {
  // Not strerror(), which may share its buffer between threads.
  Throw(CodeOf(error), doing, ": ", std::generic_category().message(error), " (errno ", error, ")");
}

}  // namespace wherry
