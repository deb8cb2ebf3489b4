// AttributeCast<T>: an Attribute as the C++ type a kernel or InferMeta function asks for.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.h"
#include "op/attribute.h"

namespace wherry {

// Returns a reference where the attribute stores exactly T, a value where it has to convert (int, float, vector<int>,
// vector<float>). The attribute must already have the schema's type; anything else is Error(kInvalidArgument), and so
// is an integer that does not fit T.
namespace internal {

template <typename T>
T NarrowAttribute(int64_t value) {
  WHERRY_ENFORCE(std::in_range<T>(value), kInvalidArgument, "attribute value ", value, " does not fit ", sizeof(T) * 8,
                 " bits");
  return static_cast<T>(value);
}

}  // namespace internal

template <typename T>
decltype(auto) AttributeCast(const Attribute& attribute) {
  const auto get = [&attribute](auto* type) -> const std::remove_pointer_t<decltype(type)>& {
    using Stored = std::remove_pointer_t<decltype(type)>;
    const Stored* value = std::get_if<Stored>(&attribute);
    WHERRY_ENFORCE(value != nullptr, kInvalidArgument, "attribute has type ", ToString(TypeOf(attribute)),
                   ", not the one asked for");
    return *value;
  };
  if constexpr (std::is_same_v<T, bool>) {
    return bool{get(static_cast<bool*>(nullptr))};
  } else if constexpr (std::is_integral_v<T>) {
    return internal::NarrowAttribute<T>(get(static_cast<int64_t*>(nullptr)));
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(get(static_cast<double*>(nullptr)));
  } else if constexpr (std::is_same_v<T, std::vector<int>>) {
    const std::vector<int64_t>& values = get(static_cast<std::vector<int64_t>*>(nullptr));
    std::vector<int> narrow;
    narrow.reserve(values.size());
    for (int64_t value : values) narrow.push_back(internal::NarrowAttribute<int>(value));
    return narrow;
  } else if constexpr (std::is_same_v<T, std::vector<float>>) {
    const std::vector<double>& values = get(static_cast<std::vector<double>*>(nullptr));
    return std::vector<float>(values.begin(), values.end());
  } else {
    return (get(static_cast<T*>(nullptr)));
  }
}

}  // namespace wherry
