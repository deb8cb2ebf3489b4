#include <array>
#include <span>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/strings.h"
#include "wherry/types.h"

namespace wherry {
namespace {

template <typename T>
struct Name {
  T value;
  const char* text;
};

// The first name of a value is the one that is printed.
constexpr Name<Target> kTargets[] = {
    {Target::kUndefined, "undefined"},
    {Target::kAny, "any"},
    {Target::kHost, "host"},
    {Target::kX86, "x86"},
    {Target::kARM, "arm"},
    {Target::kOpenCL, "opencl"},
    {Target::kCUDA, "cuda"},
    {Target::kCustom, "custom"},
};

constexpr Name<DataType> kDataTypes[] = {
    {DataType::kUndefined, "undefined"},
    {DataType::kAny, "any"},
    {DataType::kBool, "bool"},
    {DataType::kInt8, "i8"},
    {DataType::kUInt8, "u8"},
    {DataType::kInt16, "i16"},
    {DataType::kUInt16, "u16"},
    {DataType::kInt32, "i32"},
    {DataType::kUInt32, "u32"},
    {DataType::kInt64, "i64"},
    {DataType::kUInt64, "u64"},
    {DataType::kFP16, "f16"},
    {DataType::kBF16, "bf16"},
    {DataType::kFloat, "f32"},
    {DataType::kFP64, "f64"},
    {DataType::kComplex64, "c64"},
    {DataType::kComplex128, "c128"},
    {DataType::kString, "string"},
    {DataType::kInt4, "i4"},
    {DataType::kUInt4, "u4"},
    {DataType::kFP8E4M3FN, "f8e4m3fn"},
    {DataType::kFP8E5M2, "f8e5m2"},
    {DataType::kSequence, "sequence"},
    {DataType::kInt2, "i2"},
    {DataType::kUInt2, "u2"},
    {DataType::kFP4E2M1, "f4e2m1"},
    {DataType::kFP8E4M3FNUZ, "f8e4m3fnuz"},
    {DataType::kFP8E5M2FNUZ, "f8e5m2fnuz"},
    {DataType::kFP8E8M0, "f8e8m0"},
    {DataType::kInt8, "int8"},
    {DataType::kUInt8, "uint8"},
    {DataType::kInt16, "int16"},
    {DataType::kUInt16, "uint16"},
    {DataType::kInt32, "int32"},
    {DataType::kUInt32, "uint32"},
    {DataType::kInt64, "int64"},
    {DataType::kUInt64, "uint64"},
    {DataType::kFP16, "float16"},
    {DataType::kFP16, "fp16"},
    {DataType::kBF16, "bfloat16"},
    {DataType::kFloat, "float32"},
    {DataType::kFloat, "float"},
    {DataType::kFloat, "fp32"},
    {DataType::kFP64, "float64"},
    {DataType::kFP64, "double"},
    {DataType::kFP64, "fp64"},
    {DataType::kComplex64, "complex64"},
    {DataType::kComplex128, "complex128"},
    {DataType::kInt4, "int4"},
    {DataType::kUInt4, "uint4"},
    {DataType::kFP8E4M3FN, "float8_e4m3fn"},
    {DataType::kFP8E5M2, "float8_e5m2"},
    {DataType::kInt2, "int2"},
    {DataType::kUInt2, "uint2"},
    {DataType::kFP4E2M1, "float4_e2m1"},
    {DataType::kFP8E4M3FNUZ, "float8_e4m3fnuz"},
    {DataType::kFP8E5M2FNUZ, "float8_e5m2fnuz"},
    {DataType::kFP8E8M0, "float8_e8m0"},
};

constexpr Name<DataLayout> kDataLayouts[] = {
    {DataLayout::kUndefined, "undefined"},
    {DataLayout::kAny, "any"},
    {DataLayout::kNCHW, "nchw"},
    {DataLayout::kNHWC, "nhwc"},
};

template <typename T>
const char* FindText(std::span<const Name<T>> names, T value) {
  for (const Name<T>& name : names) {
    if (name.value == value) return name.text;
  }
  return "invalid";
}

template <typename T>
T FindValue(std::span<const Name<T>> names, const char* what, std::string_view text) {
  for (const Name<T>& name : names) {
    if (name.text == text) return name.value;
  }
  std::string known;
  for (const Name<T>& name : names) {
    if (name.text != FindText(names, name.value)) continue;              // a second spelling
    if (name.value == T::kUndefined || name.value == T::kAny) continue;  // nobody asks for those by name
    if (!known.empty()) known += ", ";
    known += name.text;
  }
  Throw(ErrorCode::kInvalidArgument, "unknown ", what, " ", Quote(text), "; there are: ", known);
}

}  // namespace

const char* ToString(Target target) noexcept { return FindText<Target>(kTargets, target); }
const char* ToString(DataType dtype) noexcept { return FindText<DataType>(kDataTypes, dtype); }
const char* ToString(DataLayout layout) noexcept { return FindText<DataLayout>(kDataLayouts, layout); }

Target ParseTarget(std::string_view name) {
  if (name == "cpu") return Target::kNative;
  return FindValue<Target>(kTargets, "target", name);
}
DataType ParseDataType(std::string_view name) { return FindValue<DataType>(kDataTypes, "data type", name); }
DataLayout ParseDataLayout(std::string_view name) { return FindValue<DataLayout>(kDataLayouts, "data layout", name); }

size_t SizeOf(DataType dtype) noexcept {
  switch (dtype) {
    case DataType::kBool:
    case DataType::kInt8:
    case DataType::kUInt8:
    case DataType::kFP8E4M3FN:
    case DataType::kFP8E5M2:
    case DataType::kFP8E4M3FNUZ:
    case DataType::kFP8E5M2FNUZ:
    case DataType::kFP8E8M0: return 1;
    case DataType::kInt16:
    case DataType::kUInt16:
    case DataType::kFP16:
    case DataType::kBF16: return 2;
    case DataType::kInt32:
    case DataType::kUInt32:
    case DataType::kFloat: return 4;
    case DataType::kInt64:
    case DataType::kUInt64:
    case DataType::kFP64:
    case DataType::kComplex64: return 8;
    case DataType::kComplex128: return 16;
    case DataType::kUndefined:
    case DataType::kAny:
    case DataType::kString:
    case DataType::kSequence:
    case DataType::kInt4:
    case DataType::kUInt4:
    case DataType::kInt2:
    case DataType::kUInt2:
    case DataType::kFP4E2M1: return 0;
  }
  return 0;
}

int SubByteBits(DataType dtype) noexcept {
  switch (dtype) {
    case DataType::kInt2:
    case DataType::kUInt2: return 2;
    case DataType::kInt4:
    case DataType::kUInt4:
    case DataType::kFP4E2M1: return 4;
    default: return 0;
  }
}

bool IsFloating(DataType dtype) noexcept {
  switch (dtype) {
    case DataType::kFP8E4M3FN:
    case DataType::kFP8E5M2:
    case DataType::kFP8E4M3FNUZ:
    case DataType::kFP8E5M2FNUZ:
    case DataType::kFP8E8M0:
    case DataType::kFP4E2M1:
    case DataType::kFP16:
    case DataType::kBF16:
    case DataType::kFloat:
    case DataType::kFP64: return true;
    default: return false;
  }
}

bool IsInteger(DataType dtype) noexcept {
  switch (dtype) {
    case DataType::kInt2:
    case DataType::kUInt2:
    case DataType::kInt4:
    case DataType::kUInt4:
    case DataType::kInt8:
    case DataType::kUInt8:
    case DataType::kInt16:
    case DataType::kUInt16:
    case DataType::kInt32:
    case DataType::kUInt32:
    case DataType::kInt64:
    case DataType::kUInt64: return true;
    default: return false;
  }
}

bool IsHostMemory(Target target) noexcept {
  return target == Target::kHost || target == Target::kX86 || target == Target::kARM;
}

std::string Place::DebugString() const {
  // No stream: optimising asks for it at every statement.
  return std::string(ToString(target_)).append("/").append(ToString(precision_)).append("/").append(ToString(layout_));
}

Place ParsePlace(std::string_view text) {
  std::array<std::string_view, 3> parts;
  size_t count = 0;
  for (size_t at = 0;; ++count) {
    WHERRY_ENFORCE(count < parts.size(), kInvalidArgument, "place ", Quote(text),
                   " has more than three parts; expected target:type:layout, as in x86:f32:nchw");
    const size_t end = std::min(text.find_first_of(":/", at), text.size());
    parts[count] = text.substr(at, end - at);
    if (end == text.size()) break;
    at = end + 1;
  }
  return Place(ParseTarget(parts[0]), count > 0 ? ParseDataType(parts[1]) : DataType::kFloat,
               count > 1 ? ParseDataLayout(parts[2]) : DataLayout::kNCHW);
}

}  // namespace wherry
