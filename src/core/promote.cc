#include "core/promote.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace wherry {
namespace {

enum class Kind { kBool, kSigned, kUnsigned, kFloating, kComplex, kOther };

Kind KindOf(DataType dtype) {
  switch (dtype) {
    case DataType::kBool: return Kind::kBool;
    case DataType::kInt8:
    case DataType::kInt16:
    case DataType::kInt32:
    case DataType::kInt64: return Kind::kSigned;
    case DataType::kUInt8:
    case DataType::kUInt16:
    case DataType::kUInt32:
    case DataType::kUInt64: return Kind::kUnsigned;
    case DataType::kFP16:
    case DataType::kBF16:
    case DataType::kFloat:
    case DataType::kFP64: return Kind::kFloating;
    case DataType::kComplex64:
    case DataType::kComplex128: return Kind::kComplex;
    default: return Kind::kOther;
  }
}

DataType SignedOfSize(size_t size) {
  switch (size) {
    case 1: return DataType::kInt8;
    case 2: return DataType::kInt16;
    case 4: return DataType::kInt32;
    default: return DataType::kInt64;
  }
}

// A float type that holds every integer of this type, as NumPy counts it (f64 for i64, although that rounds).
DataType FloatingFor(DataType integer) {
  switch (SizeOf(integer)) {
    case 1: return DataType::kFP16;
    case 2: return DataType::kFloat;
    default: return DataType::kFP64;
  }
}

DataType LargerFloating(DataType a, DataType b) {
  if (a == b) return a;
  if (SizeOf(a) == SizeOf(b)) return DataType::kFloat;  // f16 with bf16
  return SizeOf(a) > SizeOf(b) ? a : b;
}

}  // namespace

DataType PromoteTypes(DataType a, DataType b) {
  if (a == b || b == DataType::kUndefined) return a;
  if (a == DataType::kUndefined) return b;
  Kind kind_a = KindOf(a);
  Kind kind_b = KindOf(b);
  WHERRY_ENFORCE(kind_a != Kind::kOther && kind_b != Kind::kOther, kInvalidArgument, "no data type holds both ",
                 ToString(a), " and ", ToString(b));
  if (kind_a > kind_b) {
    std::swap(a, b);
    std::swap(kind_a, kind_b);
  }
  // From here on a's kind comes first in the order of Kind.
  if (kind_a == Kind::kBool) return b;
  if (kind_a == kind_b && kind_a != Kind::kFloating) return SizeOf(a) > SizeOf(b) ? a : b;
  switch (kind_b) {
    case Kind::kUnsigned:
      if (b == DataType::kUInt64) return DataType::kFP64;
      return SignedOfSize(std::max(SizeOf(a), 2 * SizeOf(b)));
    case Kind::kFloating: {
      const DataType other = kind_a == Kind::kFloating ? a : FloatingFor(a);
      // A one-byte integer fits bf16 as well as f16, so that it does not widen bf16.
      return kind_a != Kind::kFloating && SizeOf(a) == 1 ? b : LargerFloating(other, b);
    }
    default: {  // complex
      const DataType part = b == DataType::kComplex64 ? DataType::kFloat : DataType::kFP64;
      const DataType other = kind_a == Kind::kFloating ? a : FloatingFor(a);
      return LargerFloating(other, part) == DataType::kFP64 ? DataType::kComplex128 : DataType::kComplex64;
    }
  }
}

}  // namespace wherry
