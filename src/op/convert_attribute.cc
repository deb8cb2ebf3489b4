// ConvertAttribute.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/strings.h"
#include "op/attribute.h"

namespace wherry {
namespace {

// The value as T where nothing is lost, else nullopt.
template <typename T>
std::optional<T> To(const Attribute& value);

std::optional<int64_t> IntegerOf(const Attribute& value) {
  if (const auto* integer = std::get_if<int64_t>(&value)) return *integer;
  if (const auto* boolean = std::get_if<bool>(&value)) return *boolean ? 1 : 0;
  const auto* scalar = std::get_if<Scalar>(&value);
  if (scalar == nullptr || scalar->is_floating()) return std::nullopt;
  if (scalar->dtype() == DataType::kUInt64 && scalar->to<int64_t>() < 0) return std::nullopt;  // 2^63 and more
  return scalar->to<int64_t>();
}

template <>
std::optional<int64_t> To(const Attribute& value) {
  return IntegerOf(value);
}

template <>
std::optional<bool> To(const Attribute& value) {
  const std::optional<int64_t> integer = IntegerOf(value);
  if (!integer || (*integer != 0 && *integer != 1)) return std::nullopt;
  return *integer == 1;
}

template <>
std::optional<double> To(const Attribute& value) {
  if (const auto* floating = std::get_if<double>(&value)) return *floating;
  const auto* scalar = std::get_if<Scalar>(&value);
  if (scalar != nullptr && scalar->is_floating()) return scalar->to<double>();
  const std::optional<int64_t> integer = IntegerOf(value);
  constexpr int64_t kExact = int64_t{1} << 53U;  // beyond, not every integer is a double
  if (!integer || *integer > kExact || *integer < -kExact) return std::nullopt;
  return static_cast<double>(*integer);
}

template <>
std::optional<std::string> To(const Attribute& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return std::nullopt;
}

template <>
std::optional<Scalar> To(const Attribute& value) {
  if (const auto* scalar = std::get_if<Scalar>(&value)) return *scalar;
  if (const auto* boolean = std::get_if<bool>(&value)) return Scalar(*boolean);
  if (const auto* integer = std::get_if<int64_t>(&value)) return Scalar(*integer);
  if (const auto* floating = std::get_if<double>(&value)) return Scalar(*floating);
  return std::nullopt;
}

template <typename T, typename From>
std::optional<std::vector<T>> EachTo(const std::vector<From>& values) {
  std::vector<T> result;
  result.reserve(values.size());
  for (const auto& value : values) {
    std::optional<T> item = To<T>(Attribute(static_cast<const From&>(value)));
    if (!item) return std::nullopt;
    result.push_back(std::move(*item));
  }
  return result;
}

// From a list of anything, or from one item.
template <typename T>
std::optional<std::vector<T>> ToList(const Attribute& value) {
  if (const auto* list = std::get_if<std::vector<bool>>(&value)) return EachTo<T>(*list);
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) return EachTo<T>(*list);
  if (const auto* list = std::get_if<std::vector<double>>(&value)) return EachTo<T>(*list);
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) return EachTo<T>(*list);
  if (const auto* list = std::get_if<std::vector<Scalar>>(&value)) return EachTo<T>(*list);
  if (const auto* list = std::get_if<IntArray>(&value)) return EachTo<T>(list->values());
  std::optional<T> item = To<T>(value);
  if (!item) return std::nullopt;
  return std::vector<T>{std::move(*item)};
}

template <typename T>
std::optional<Attribute> Wrap(std::optional<T> value) {
  if (!value) return std::nullopt;
  return Attribute(std::move(*value));
}

std::optional<Attribute> Converted(const Attribute& value, AttrType type) {
  const auto* text = std::get_if<std::string>(&value);
  switch (type) {
    case AttrType::kBool: return Wrap(To<bool>(value));
    case AttrType::kInt: return Wrap(To<int64_t>(value));
    case AttrType::kFloat: return Wrap(To<double>(value));
    case AttrType::kScalar: return Wrap(To<Scalar>(value));
    case AttrType::kBools: return Wrap(ToList<bool>(value));
    case AttrType::kInts: return Wrap(ToList<int64_t>(value));
    case AttrType::kFloats: return Wrap(ToList<double>(value));
    case AttrType::kStrings: return Wrap(ToList<std::string>(value));
    case AttrType::kScalars: return Wrap(ToList<Scalar>(value));
    case AttrType::kIntArray: {
      std::optional<std::vector<int64_t>> values = ToList<int64_t>(value);
      if (!values) return std::nullopt;
      return Attribute(IntArray(std::move(*values)));
    }
    case AttrType::kDataType:
      if (text != nullptr) return Attribute(ParseDataType(*text));
      return std::nullopt;
    case AttrType::kDataLayout:
      if (text != nullptr) return Attribute(ParseDataLayout(*text));
      return std::nullopt;
    case AttrType::kTarget:
      if (text != nullptr) return Attribute(ParseTarget(*text));
      return std::nullopt;
    case AttrType::kNone:
    case AttrType::kString:
    case AttrType::kEpilogue:
    case AttrType::kElementwiseProgram: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

Attribute ConvertAttribute(const Attribute& value, AttrType type, const std::string& what) {
  if (TypeOf(value) == type) return value;
  try {
    if (std::optional<Attribute> converted = Converted(value, type)) return std::move(*converted);
  } catch (Error& error) {  // a name that is no data type, layout or target
    error.AddContext(StrCat("reading ", what));
    throw;
  }
  WHERRY_ENFORCE(TypeOf(value) != AttrType::kNone, kInvalidArgument, what, ": expected ", ToString(type),
                 ", got a value of a type that Wherry does not read");
  Throw(ErrorCode::kInvalidArgument, what, ": expected ", ToString(type), ", got ", ToString(TypeOf(value)), " ",
        Quote(ToString(value)));
}

}  // namespace wherry
