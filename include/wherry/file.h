// Writing files so that they appear whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace wherry {

// Puts `content` in the place of `path` by way of a temporary file beside it. A link stays a link; a device or a pipe
// is written to. Error with the path and the system's reason; `path` is then as it was. Thread-safe.
void WriteFile(const std::string& path, std::string_view content);

// Removes the temporaries of all files that are being written now, by this function or as optimised models. For a
// signal handler that ends the process, in which it may be called; those who still write get an Error.
void RemoveTemporaryFiles() noexcept;

}  // namespace wherry
