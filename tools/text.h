// Small text helpers of the command.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace wherry::tools {

// Items between separators, blanks around them removed; "" gives no item.
std::vector<std::string> Split(const std::string& text, char separator);
// The whole text as a decimal number.
std::optional<int64_t> ParseInt(const std::string& text);
std::string Format(double value, int decimals);
// Writes to a temporary file beside it and renames: complete or not at all. Error(kUnavailable) with the system's
// reason.
void WriteFile(const std::string& path, const std::string& content);

}  // namespace wherry::tools
