// Integer arithmetic on sizes that come from files or users: throws where plain arithmetic would wrap.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "base/check.h"

namespace wherry {

template <typename T>
concept CheckedInteger = std::integral<T> && !std::same_as<T, bool>;

// a + b, a - b, a * b. Throw kOutOfRange, with the values, when the result does not fit T; `what` says what was being
// computed
// ("size of tensor 'x'") and may be anything that streams, it is used only on failure.
template <CheckedInteger T, typename What>
T CheckedAdd(T a, std::type_identity_t<T> b, const What& what) {
  T result;
  WHERRY_ENFORCE(!__builtin_add_overflow(a, b, &result), kOutOfRange, what, ": ", +a, " + ", +b, " overflows");
  return result;
}

template <CheckedInteger T, typename What>
T CheckedSub(T a, std::type_identity_t<T> b, const What& what) {
  T result;
  WHERRY_ENFORCE(!__builtin_sub_overflow(a, b, &result), kOutOfRange, what, ": ", +a, " - ", +b, " overflows");
  return result;
}

template <CheckedInteger T, typename What>
T CheckedMul(T a, std::type_identity_t<T> b, const What& what) {
  T result;
  WHERRY_ENFORCE(!__builtin_mul_overflow(a, b, &result), kOutOfRange, what, ": ", +a, " * ", +b, " overflows");
  return result;
}

// The same number as a To. Throws kOutOfRange when To cannot hold it.
template <CheckedInteger To, CheckedInteger From, typename What>
To CheckedCast(From value, const What& what) {
  WHERRY_ENFORCE(std::in_range<To>(value), kOutOfRange, what, ": ", +value, " does not fit ", sizeof(To) * 8, " bits");
  return static_cast<To>(value);
}

}  // namespace wherry
