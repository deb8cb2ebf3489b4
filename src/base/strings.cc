#include "base/strings.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "wherry/text.h"

namespace wherry {
namespace {

constexpr char32_t kNoCharacter = 0xffffffff;

// Reads one UTF-8 character at the start of `text`, which is not empty; {kNoCharacter, 1} if there is no valid one.
std::pair<char32_t, size_t> DecodeUtf8(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {kNoCharacter, 1};
  char32_t value = lead & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {kNoCharacter, 1};
    value = value << 6 | (byte(i) & 0x3fu);
  }
  const bool overlong = value < (length == 4 ? 0x10000u : length == 3 ? 0x800u : 0x80u);
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (overlong || surrogate || value > 0x10ffff) return {kNoCharacter, 1};
  return {value, length};
}

// Characters that a terminal obeys or hides instead of showing: controls, zero width, line and paragraph separators,
// and the direction marks that make text read differently from what it is.
bool IsInvisible(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c <= 0x9f) || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

void AppendEscaped(unsigned char byte, std::string* out) {
  switch (byte) {
    case '\n': *out += "\\n"; return;
    case '\r': *out += "\\r"; return;
    case '\t': *out += "\\t"; return;
    case '\\': *out += "\\\\"; return;
    case '\'': *out += "\\'"; return;
    default: break;
  }
  constexpr char kHex[] = "0123456789abcdef";
  *out += "\\x";
  *out += kHex[byte >> 4];
  *out += kHex[byte & 15];
}

// Of `text` the first characters that take at most `max_bytes`, `kept` bytes, with escapes for what is invisible and
// for the characters in `also`.
std::string Escape(std::string_view text, size_t max_bytes, std::string_view also, size_t* kept) {
  std::string out;
  size_t at = 0;
  while (at < text.size()) {
    const auto [character, length] = DecodeUtf8(text.substr(at));
    if (at + length > max_bytes) break;
    if (character == kNoCharacter || IsInvisible(character) || also.find(text[at]) != std::string_view::npos) {
      for (size_t i = 0; i < length; ++i) AppendEscaped(static_cast<unsigned char>(text[at + i]), &out);
    } else {
      out += text.substr(at, length);
    }
    at += length;
  }
  *kept = at;
  return out;
}

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), Lower);
  return lower;
}

}  // namespace

std::string Quote(std::string_view text, size_t max_bytes) {
  size_t kept = 0;
  std::string out = "'" + Escape(text, max_bytes, "'\\", &kept) + "'";
  if (kept < text.size()) out += "... (" + std::to_string(text.size()) + " bytes)";
  return out;
}

std::string Printable(std::string_view text, size_t max_bytes) {
  size_t kept = 0;
  std::string out = Escape(text, max_bytes, "", &kept);
  if (kept < text.size()) out += "... (" + std::to_string(text.size()) + " bytes)";
  return out;
}

size_t EditDistance(std::string_view a, std::string_view b, size_t limit) {
  if (a.size() < b.size()) std::swap(a, b);
  const size_t too_far = limit + 1;
  if (a.size() - b.size() > limit) return too_far;
  // Row i holds the distances of a's first i bytes to every prefix of b. Outside a band of `limit` beside the diagonal
  // they exceed the limit, and are left at too_far.
  std::vector<size_t> row(b.size() + 1, too_far);
  std::iota(row.begin(), row.begin() + static_cast<ptrdiff_t>(std::min(b.size(), limit)) + 1, size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    const size_t first = i > limit ? i - limit : 1;
    const size_t last = std::min(b.size(), i + limit);
    size_t diagonal = row[first - 1];
    row[first - 1] = first == 1 ? std::min(i, too_far) : too_far;
    size_t least = row[first - 1];
    for (size_t j = first; j <= last; ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1] ? 1 : 0);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1, too_far});
      least = std::min(least, row[j]);
    }
    if (least > limit) return too_far;
  }
  return row[b.size()];
}

std::vector<std::string> NearestNames(std::string_view name, const std::vector<std::string>& candidates, size_t count) {
  constexpr size_t kLongestName = 256;  // nobody types more, and a file may
  if (name.size() > kLongestName) return {};
  const size_t limit = std::max<size_t>(2, name.size() / 3);
  const std::string lower = LowerCase(name);
  std::vector<std::pair<size_t, std::string_view>> near;
  for (const std::string& candidate : candidates) {
    const size_t distance = EditDistance(lower, LowerCase(candidate), limit);
    // A short name must keep at least one byte: 'ab' is no misspelling of 'cd'.
    if (distance <= limit && distance < std::max(name.size(), candidate.size())) near.emplace_back(distance, candidate);
  }
  std::sort(near.begin(), near.end());
  near.erase(std::unique(near.begin(), near.end()), near.end());
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(count, near.size()); ++i) names.emplace_back(near[i].second);
  return names;
}

std::string DidYouMean(std::string_view name, const std::vector<std::string>& candidates) {
  const std::vector<std::string> names = NearestNames(name, candidates);
  if (names.empty()) return "";
  std::string out = "; did you mean ";
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 == names.size() ? " or " : ", ";
    out += Quote(names[i]);
  }
  return out + "?";
}

}  // namespace wherry
