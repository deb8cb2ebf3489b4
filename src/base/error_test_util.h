// For tests: what an Error says.
#pragma once

#include <string>

#include "base/function_ref.h"
#include "wherry/error.h"

namespace wherry {

// What the Error that `action` throws says; "no error" if it throws none.
inline std::string ErrorText(FunctionRef<void()> action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace wherry
