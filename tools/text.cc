#include "text.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace wherry::tools {

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> items;
  size_t begin = 0;
  while (begin <= text.size() && !text.empty()) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    const size_t first = text.find_first_not_of(' ', begin);
    const size_t last = text.find_last_not_of(' ', end == 0 ? 0 : end - 1);
    items.push_back(first == std::string::npos || first >= end ? "" : text.substr(first, last - first + 1));
    begin = end + 1;
  }
  return items;
}

std::optional<int64_t> ParseInt(const std::string& text) {
  int64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::string Format(double value, int decimals) {
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), "%.*f", decimals, value);
  return buffer;
}

}  // namespace wherry::tools
