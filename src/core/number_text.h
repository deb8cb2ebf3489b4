// Numbers as text that reads back to the same number.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace wherry {

// The shortest decimal that reads back to the same value, always recognisable as a float: "0.1", "3.0", "1e-05", "inf",
// "-inf", "nan" (whatever its sign and payload).
std::string NumberText(double value);
std::string NumberText(float value);

// The whole text as a T (an integer or float type) in the form above, or nullopt if it is anything else or does not
// fit.
template <typename T>
std::optional<T> ParseNumber(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace wherry
