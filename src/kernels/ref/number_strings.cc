#include "kernels/ref/number_strings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/strings.h"

namespace wherry::ref {
namespace {

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n\v\f\r";
  text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
  text.remove_suffix(text.size() - (text.find_last_not_of(kSpaces) + 1));
  if (text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+') text.remove_prefix(1);
  return text;
}

}  // namespace

double NumberOf(std::string_view text) {
  const std::string_view number = Trimmed(text);
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  const bool whole = !number.empty() && end == number.data() + number.size();
  if (whole && error == std::errc()) return value;
  WHERRY_ENFORCE(whole && error == std::errc::result_out_of_range, kInvalidArgument, Quote(std::string(text)),
                 " is no number");
  // Too large or too small: which, the exponent says.
  const size_t exponent = number.find_first_of("eE");
  const bool small = exponent != std::string_view::npos ? number[exponent + 1] == '-' : number.find('.') < 3;
  const double magnitude = small ? 0.0 : std::numeric_limits<double>::infinity();
  return number[0] == '-' ? -magnitude : magnitude;
}

int64_t IntegerOf(std::string_view text) {
  if (const auto value = ParseNumber<int64_t>(Trimmed(text))) return *value;
  const double number = NumberOf(text);
  if (std::isnan(number)) return 0;
  constexpr double kBeyond = 0x1p63;
  if (number >= kBeyond) return std::numeric_limits<int64_t>::max();
  return number <= -kBeyond ? std::numeric_limits<int64_t>::min() : static_cast<int64_t>(number);
}

}  // namespace wherry::ref
