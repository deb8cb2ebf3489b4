#include "text.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
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
  namespace fs = std::filesystem;
  const auto fail = [&path](const std::string& reason) {
    throw Error(ErrorCode::kUnavailable, "cannot write '" + path + "': " + reason);
  };
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) fail(std::strerror(EISDIR));
  // A link stays a link. A device or a pipe (/dev/stdout) is written to; a rename would put a file in its place.
  const bool replace = !fs::exists(status) || fs::is_regular_file(status);
  const std::string target = fs::exists(status) && replace ? fs::canonical(path, error).string() : path;
  if (error && fs::exists(status)) fail(error.message());
  const std::string written = replace ? target + ".tmp" + std::to_string(getpid()) : target;
  std::ofstream file(written, std::ios::binary);
  const bool opened = file.is_open();
  file << content;
  file.close();
  if (!file || (replace && std::rename(written.c_str(), target.c_str()) != 0)) {
    const std::string reason = std::strerror(errno);
    if (opened && replace) std::remove(written.c_str());
    fail(reason);
  }
}

}  // namespace wherry::tools
