// Attribute: the typed value of one non-tensor argument of an operator.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "op/epilogue.h"
#include "wherry/scalar.h"
#include "wherry/types.h"

namespace wherry {

// The order is that of Attribute's alternatives.
enum class AttrType : uint8_t {
  kNone,
  kBool,
  kInt,    // int, int64_t
  kFloat,  // float, double (kept as double)
  kString,
  kBools,
  kInts,
  kFloats,
  kStrings,
  kScalar,  // may also be bound to a one-element tensor
  kScalars,
  kIntArray,  // may also be bound to an integer tensor
  kDataType,
  kDataLayout,
  kTarget,
  kEpilogue,
  kElementwiseProgram,
};
const char* ToString(AttrType type) noexcept;

using Attribute =
    std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<bool>, std::vector<int64_t>,
                 std::vector<double>, std::vector<std::string>, Scalar, std::vector<Scalar>, IntArray, DataType,
                 DataLayout, Target, Epilogue, ElementwiseProgram>;
// By name. Lookup is by binary search in a std::map: a handful of entries.
using AttributeMap = std::map<std::string, Attribute>;

inline AttrType TypeOf(const Attribute& attribute) { return static_cast<AttrType>(attribute.index()); }

// Text of a value, and back given its type: none, true, 3, 0.5, "text", [1, 2], [0.5, inf], f32, nhwc, x86, and
// epilogues and programs as in op/epilogue.h. Floats print as the shortest decimal that reads back to the same double;
// nan, inf and -inf are words. A Scalar prints as 3, 0.5 or true when it is i64, f64 or bool, else with its type:
// f32(0.5). Parse consumes the whole text or throws Error(kInvalidArgument) with the place.
std::string ToString(const Attribute& attribute);
Attribute ParseAttribute(AttrType type, std::string_view text);

// The value as `type`, converting where nothing is lost (int -> float, 0 and 1 <-> bool, ints <-> IntArray, number <->
// Scalar, one int -> [int], [] -> any list, a name -> DataType, DataLayout, Target). Otherwise Error(kInvalidArgument)
// that says expected and got; `what` names the argument ("conv2d: attribute strides").
Attribute ConvertAttribute(const Attribute& value, AttrType type, const std::string& what);

// Bitwise equality, so that NaN equals itself and 0.0 differs from -0.0; the hash agrees with it.
bool SameAttribute(const Attribute& a, const Attribute& b);
size_t HashAttribute(const Attribute& attribute);

}  // namespace wherry
