// Elementwise operators whose operands or results are not f32: comparisons, logic, selection, whole numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wherry/types.h"

namespace wherry::cpu {

// out[i] = op(x[i], y[i], z[i]) for i < n; operands that the operator has not are null. out may be an operand of the
// same type.
using TypedTile = void (*)(const void* x, const void* y, const void* z, void* out, int64_t n);

// Two operands of one type. A comparison gives bool, anything else the type of its operands; integers wrap.
enum class TypedOp : uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kAdd,
  kSub,
  kMul,
  kMax,
  kMin,
};
inline constexpr int kTypedOps = 9;
constexpr bool IsComparison(TypedOp op) { return op <= TypedOp::kLessEqual; }

// The loop for the active instruction set. Comparisons are there for kFloat, kInt32, kInt64, kUInt8 and kBool,
// arithmetic for kInt32 and kInt64.
TypedTile TypedTileOf(TypedOp op, DataType dtype);

// Of bools.
enum class LogicOp : uint8_t { kAnd, kOr, kXor, kNot };
inline constexpr int kLogicOps = 4;
TypedTile LogicTileOf(LogicOp op);

// One operand of kInt32 or kInt64, whose lowest number stays in kAbs and kNeg; kIsInf: of kFloat to bool.
enum class UnaryOp : uint8_t { kAbs, kNeg, kSign, kIsInf };
inline constexpr int kUnaryOps = 4;
TypedTile UnaryTileOf(UnaryOp op, DataType dtype);

// Of unsigned integers (or, but for shifts, any) of 1, 2, 4 or 8 bytes. Moved by as many bits as there are or more,
// all are gone.
enum class BitOp : uint8_t { kAnd, kOr, kXor, kNot, kShiftLeft, kShiftRight };
inline constexpr int kBitOps = 6;
TypedTile BitTileOf(BitOp op, size_t size);

// out = x (a bool) ? y : z, for elements of 1, 2, 4 or 8 bytes.
TypedTile SelectTileOf(size_t size);

}  // namespace wherry::cpu
