#include "core/number_text.h"

#include <array>
#include <cmath>

namespace wherry {
namespace {

template <typename T>
std::string FloatText(T value) {
  if (std::isnan(value)) return "nan";
  std::array<char, 64> buffer;  // the longest double takes 24 characters
  const std::to_chars_result result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  std::string text(buffer.data(), result.ptr);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";  // 'n': inf
  return text;
}

}  // namespace

std::string NumberText(double value) { return FloatText(value); }
std::string NumberText(float value) { return FloatText(value); }

}  // namespace wherry
