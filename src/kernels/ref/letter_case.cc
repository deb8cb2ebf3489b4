#include "kernels/ref/letter_case.h"

namespace wherry::ref {
namespace {

bool Within(int code, int first, int last) { return first <= code && code <= last; }

// Pairs of an upper-case letter and the lower-case one behind it, from `first` to `last`.
bool IsPaired(int code, int* first) {
  struct Range {
    int first;
    int last;
  };
  constexpr Range kRanges[] = {{0x100, 0x12F}, {0x132, 0x137}, {0x139, 0x148}, {0x14A, 0x177}, {0x179, 0x17E},
                               {0x1CD, 0x1DC}, {0x1DE, 0x1EF}, {0x1F8, 0x21F}, {0x222, 0x233}, {0x370, 0x373},
                               {0x3D8, 0x3EF}, {0x460, 0x481}, {0x48A, 0x4BF}, {0x4C1, 0x4CE}, {0x4D0, 0x52F}};
  for (const Range& range : kRanges) {
    if (!Within(code, range.first, range.last)) continue;
    *first = range.first;
    return true;
  }
  return false;
}

// The code point of two bytes, or ASCII, in the other case where `code` is a letter of this one.
int ToLower(int code) {
  int first = 0;
  if (Within(code, 'A', 'Z')) return code + 32;
  if (Within(code, 0xC0, 0xDE) && code != 0xD7) return code + 32;
  if (Within(code, 0x391, 0x3AB) && code != 0x3A2) return code + 32;
  if (Within(code, 0x410, 0x42F)) return code + 32;
  if (Within(code, 0x400, 0x40F)) return code + 80;
  if (code == 0x178) return 0xFF;
  if (IsPaired(code, &first) && (code - first) % 2 == 0) return code + 1;
  return code;
}

int ToUpper(int code) {
  int first = 0;
  if (Within(code, 'a', 'z')) return code - 32;
  if (Within(code, 0xE0, 0xFE) && code != 0xF7) return code - 32;
  if (Within(code, 0x3B1, 0x3CB) && code != 0x3C2) return code - 32;
  if (Within(code, 0x430, 0x44F)) return code - 32;
  if (Within(code, 0x450, 0x45F)) return code - 80;
  if (code == 0xFF) return 0x178;
  if (IsPaired(code, &first) && (code - first) % 2 == 1) return code - 1;
  return code;
}

std::string Mapped(std::string_view text, int (*map)(int)) {
  std::string mapped(text);
  for (size_t i = 0; i < mapped.size(); ++i) {
    const auto lead = static_cast<unsigned char>(mapped[i]);
    if (lead < 0x80) {
      mapped[i] = static_cast<char>(map(lead));
    } else if (Within(lead, 0xC2, 0xDF) && i + 1 < mapped.size() && (mapped[i + 1] & 0xC0) == 0x80) {
      const int code = map((lead & 0x1F) << 6 | (mapped[i + 1] & 0x3F));
      mapped[i] = static_cast<char>(0xC0 | code >> 6);
      mapped[++i] = static_cast<char>(0x80 | (code & 0x3F));
    }
  }
  return mapped;
}

}  // namespace

std::string LowerCase(std::string_view text) { return Mapped(text, &ToLower); }
std::string UpperCase(std::string_view text) { return Mapped(text, &ToUpper); }

}  // namespace wherry::ref
