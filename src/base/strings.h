// Text for messages: joining, quoting what a file says, and guessing what a user meant.
#pragma once

#include <cstddef>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace wherry {

// Join({1, 2, 3}, ", ") is "1, 2, 3". The items are whatever streams.
template <typename Items>
std::string Join(const Items& items, std::string_view separator) {
  std::ostringstream out;
  bool first = true;
  for (const auto& item : items) {
    if (!first) out << separator;
    first = false;
    out << item;
  }
  return out.str();
}

// `text` in single quotes, fit for a terminal whatever bytes it has: valid UTF-8 stays readable; control characters,
// quotes, backslashes, bytes that are no UTF-8, and the invisible characters that reorder or hide text become escapes
// (\n, \x1b). What is longer than `max_bytes` (of `text`) is cut, and says so: 'abc'... (1234 bytes). Use it for every
// name and path that comes from a file or a user.
std::string Quote(std::string_view text, size_t max_bytes = 120);

// Fewest insertions, deletions and replacements of a byte that make `b` of `a`; `limit` + 1 if that takes more than
// `limit`. Takes time proportional to limit * length, so a hostile name costs little.
size_t EditDistance(std::string_view a, std::string_view b, size_t limit);

// Those of `candidates` that `name` may be a misspelling of (a third of its bytes changed at most, letter case
// ignored), the nearest first, equally near ones by name; at most `count`.
std::vector<std::string> NearestNames(std::string_view name, const std::vector<std::string>& candidates,
                                      size_t count = 3);

// The end of a "not found" message: "; did you mean 'relu' or 'prelu'?", or "" when nothing is near.
std::string DidYouMean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace wherry
