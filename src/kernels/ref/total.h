// What reductions and scans gather up.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/ref/element.h"

namespace wherry::ref {

// What sums and products are taken in: double, or 64 bits that wrap.
template <typename T>
using Total = std::conditional_t<FloatElement<T>, double, uint64_t>;

template <typename T>
Total<T> ToTotal(T value) {
  if constexpr (FloatElement<T>) {
    return Load(value);
  } else {
    return Bits(value);
  }
}

}  // namespace wherry::ref
