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

}  // namespace wherry::tools
