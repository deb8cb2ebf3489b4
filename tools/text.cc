#include "text.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "wherry/error.h"

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

void WriteFile(const std::string& path, const std::string& content) {
  const std::string temporary = path + ".tmp" + std::to_string(getpid());
  const auto fail = [&](const std::string& what) {
    const std::string reason = std::strerror(errno);
    std::remove(temporary.c_str());
    throw Error(ErrorCode::kUnavailable, "cannot " + what + " '" + path + "': " + reason);
  };
  std::ofstream file(temporary, std::ios::binary);
  if (!file) fail("write");
  file << content;
  file.close();
  if (!file) fail("write");
  if (std::rename(temporary.c_str(), path.c_str()) != 0) fail("replace");
}

}  // namespace wherry::tools
