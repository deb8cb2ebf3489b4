// Elements as unsigned numbers in the same order: NaN above all, both zeros one.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace wherry::cpu {

template <typename T>
using OrderedKeyOf = std::conditional_t<sizeof(T) <= sizeof(uint32_t), uint32_t, uint64_t>;

template <typename T>
OrderedKeyOf<T> OrderedKey(T value) {
  using Key = OrderedKeyOf<T>;
  constexpr Key kTop = Key{1} << (std::numeric_limits<Key>::digits - 1);
  if constexpr (std::is_floating_point_v<T>) {
    const Key bits = std::bit_cast<Key>(value + T{0});
    if (std::isnan(value)) return std::numeric_limits<Key>::max();
    return (bits & kTop) != 0 ? ~bits : bits | kTop;
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<Key>(value) ^ kTop;
  } else {
    return Key{value};
  }
}

}  // namespace wherry::cpu
