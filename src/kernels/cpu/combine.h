// How an element that is put in combines with the one that is there.
#pragma once

#include <cmath>
#include <string_view>
#include <type_traits>

namespace wherry::cpu {

struct Assign {
  template <typename T>
  T operator()(T /*old*/, T value) const {
    return value;
  }
};

// Integers wrap.
struct CombineSum {
  template <typename T>
  T operator()(T old, T value) const {
    if constexpr (std::is_floating_point_v<T>) {
      return old + value;
    } else {
      using Bits = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<Bits>(old) + static_cast<Bits>(value));
    }
  }
};
struct CombineProduct {
  template <typename T>
  T operator()(T old, T value) const {
    if constexpr (std::is_floating_point_v<T>) {
      return old * value;
    } else {
      using Bits = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<Bits>(old) * static_cast<Bits>(value));
    }
  }
};

// NaN wins, and of two that which is put in.
template <bool kLargest>
struct CombineExtreme {
  template <typename T>
  T operator()(T old, T value) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(old) && !std::isnan(value)) return old;
    }
    return (kLargest ? old > value : old < value) ? old : value;
  }
};

// Whether WithCombine knows this `reduce` of an operator.
inline bool Combines(std::string_view reduce) {
  return reduce == "assign" || reduce == "add" || reduce == "mul" || reduce == "max" || reduce == "min";
}
template <typename Fn>
void WithCombine(std::string_view reduce, const Fn& fn) {
  if (reduce == "add") return fn(CombineSum());
  if (reduce == "mul") return fn(CombineProduct());
  if (reduce == "max") return fn(CombineExtreme<true>());
  if (reduce == "min") return fn(CombineExtreme<false>());
  fn(Assign());
}

}  // namespace wherry::cpu
