// Numbers as text and back.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/number_text.h"
#include "kernels/ref/element.h"

namespace wherry::ref {

// The number that the whole text is, white space around it aside: decimal or scientific, "inf", "infinity" and "nan" in
// any case. Error(kInvalidArgument) for any other text. An integer may be written as a float: it is cut off towards
// zero, saturating.
double NumberOf(std::string_view text);
int64_t IntegerOf(std::string_view text);

// The shortest text that reads back the same in its type.
template <typename T>
std::string NumberString(T value) {
  if constexpr (std::same_as<T, bool>) {
    return value ? "True" : "False";
  } else if constexpr (std::same_as<T, double>) {
    return NumberText(value);
  } else if constexpr (FloatElement<T>) {
    return NumberText(static_cast<float>(value));
  } else {
    return std::to_string(value);
  }
}

}  // namespace wherry::ref
