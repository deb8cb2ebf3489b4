#include "conformance/known_failures.h"

#include <fstream>

#include "base/check.h"

namespace wherry::conformance {

namespace {

std::string Trim(const std::string& text) {
  const size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace

KnownFailures::KnownFailures(const std::string& folder, const std::string& provider) {
  const std::string path = folder + "/" + provider + ".txt";
  std::ifstream file(path);
  std::string whole;
  for (int number = 1; std::getline(file, whole); ++number) {
    if (Trim(whole).empty() || whole[0] == '#') continue;
    const size_t first = whole.find('|');
    const size_t second = first == std::string::npos ? first : whole.find('|', first + 1);
    WHERRY_ENFORCE(second != std::string::npos && !Trim(whole.substr(second + 1)).empty(), kInvalidArgument, path, ":",
                   number, ": expected KERNEL | TEXT | REASON, got '", whole, "'");
    lines_.push_back({Trim(whole.substr(0, first)), Trim(whole.substr(first + 1, second - first - 1)), whole});
  }
}

bool KnownFailures::Expects(const std::string& kernel, const std::string& text) {
  bool expected = false;
  for (Line& line : lines_) {
    if (line.kernel != kernel || text.find(line.text) == std::string::npos) continue;
    line.used = true;
    expected = true;
  }
  return expected;
}

std::vector<std::string> KnownFailures::Unused(const std::string& kernel) const {
  std::vector<std::string> unused;
  for (const Line& line : lines_) {
    if (line.kernel == kernel && !line.used) unused.push_back(line.whole);
  }
  return unused;
}

}  // namespace wherry::conformance
