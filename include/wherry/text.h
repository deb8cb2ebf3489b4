// Names in messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace wherry {

// A name or path that comes from a file or a user, fit for a terminal and for one line: control characters, invisible
// ones and bytes that are no UTF-8 become escapes (\n, \x1b). What is longer than `max_bytes` is cut, and says so.
std::string Printable(std::string_view text, size_t max_bytes = 1000);

}  // namespace wherry
