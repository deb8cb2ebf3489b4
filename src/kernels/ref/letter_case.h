// Letter case of UTF-8 text.
#pragma once

#include <string>
#include <string_view>

namespace wherry::ref {

// Letters of the Latin, Greek and Cyrillic blocks below U+0530 whose other case is one code point of as many bytes;
// all else, damaged text too, stays as it is. No locale has a say (the Turkish i is as in English).
std::string LowerCase(std::string_view text);
std::string UpperCase(std::string_view text);

}  // namespace wherry::ref
