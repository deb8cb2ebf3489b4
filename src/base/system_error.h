// Failed system calls as Errors.
#pragma once

#include <string>

namespace wherry {

// Throws an Error that reads "DOING: TEXT OF errno (errno N)", with the code that fits `error`: ENOENT is kNotFound,
// ENOSPC and ENOMEM are kResourceExhausted, and so on; what is left is kUnavailable.
[[noreturn]] void ThrowSystemError(int error, const std::string& doing);

}  // namespace wherry
