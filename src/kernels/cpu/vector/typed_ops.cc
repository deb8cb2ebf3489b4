#include "kernels/cpu/vector/typed_ops.h"

#include <array>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/simd/plain_loop.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/vector/typed_ops.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

template <TypedOp kOp, typename T>
HWY_INLINE auto Apply(T x, T y) {
  if constexpr (kOp == TypedOp::kEqual) {
    return static_cast<uint8_t>(x == y);
  } else if constexpr (kOp == TypedOp::kNotEqual) {
    return static_cast<uint8_t>(x != y);
  } else if constexpr (kOp == TypedOp::kLess) {
    return static_cast<uint8_t>(x < y);
  } else if constexpr (kOp == TypedOp::kLessEqual) {
    return static_cast<uint8_t>(x <= y);
  } else if constexpr (kOp == TypedOp::kMax) {
    return x > y ? x : y;
  } else if constexpr (kOp == TypedOp::kMin) {
    return x < y ? x : y;
  } else {
    using U = std::make_unsigned_t<T>;
    const U a = static_cast<U>(x);
    const U b = static_cast<U>(y);
    return static_cast<T>(kOp == TypedOp::kAdd ? a + b : kOp == TypedOp::kSub ? a - b : a * b);
  }
}

template <TypedOp kOp, typename T>
void Binary(const void* x_data, const void* y_data, const void* /*z*/, void* out_data, int64_t n) {
  const T* const x = static_cast<const T*>(x_data);
  const T* const y = static_cast<const T*>(y_data);
  auto* const out = static_cast<std::conditional_t<IsComparison(kOp), uint8_t, T>*>(out_data);
  WHERRY_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) out[i] = Apply<kOp>(x[i], y[i]);
}

template <LogicOp kOp>
void Logic(const void* x_data, const void* y_data, const void* /*z*/, void* out_data, int64_t n) {
  const uint8_t* const x = static_cast<const uint8_t*>(x_data);
  const uint8_t* const y = static_cast<const uint8_t*>(y_data);
  uint8_t* const out = static_cast<uint8_t*>(out_data);
  WHERRY_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (kOp == LogicOp::kAnd) {
      out[i] = x[i] & y[i];
    } else if constexpr (kOp == LogicOp::kOr) {
      out[i] = x[i] | y[i];
    } else if constexpr (kOp == LogicOp::kXor) {
      out[i] = x[i] ^ y[i];
    } else {
      out[i] = x[i] ^ 1;
    }
  }
}

template <UnaryOp kOp, typename T>
void Unary(const void* x_data, const void* /*y*/, const void* /*z*/, void* out_data, int64_t n) {
  const T* const x = static_cast<const T*>(x_data);
  if constexpr (kOp == UnaryOp::kIsInf) {
    auto* const out = static_cast<uint8_t*>(out_data);
    const T inf = std::numeric_limits<T>::infinity();
    WHERRY_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<uint8_t>(x[i] == inf) | static_cast<uint8_t>(x[i] == -inf);
  } else {
    using U = std::make_unsigned_t<T>;
    T* const out = static_cast<T*>(out_data);
    WHERRY_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (kOp == UnaryOp::kSign) {
        out[i] = static_cast<T>(static_cast<T>(x[i] > 0) - static_cast<T>(x[i] < 0));
      } else {
        const T negative = static_cast<T>(U{0} - static_cast<U>(x[i]));
        out[i] = kOp == UnaryOp::kNeg || x[i] < 0 ? negative : x[i];
      }
    }
  }
}

template <BitOp kOp, typename T>
void Bits(const void* x_data, const void* y_data, const void* /*z*/, void* out_data, int64_t n) {
  const T* const x = static_cast<const T*>(x_data);
  const T* const y = static_cast<const T*>(y_data);
  T* const out = static_cast<T*>(out_data);
  constexpr T kAll = 8 * sizeof(T);
  WHERRY_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (kOp == BitOp::kAnd) {
      out[i] = x[i] & y[i];
    } else if constexpr (kOp == BitOp::kOr) {
      out[i] = x[i] | y[i];
    } else if constexpr (kOp == BitOp::kXor) {
      out[i] = x[i] ^ y[i];
    } else if constexpr (kOp == BitOp::kNot) {
      out[i] = static_cast<T>(~x[i]);
    } else {
      const T by = y[i] < kAll ? y[i] : T{0};
      const T moved = static_cast<T>(kOp == BitOp::kShiftLeft ? x[i] << by : x[i] >> by);
      out[i] = y[i] < kAll ? moved : T{0};
    }
  }
}

template <typename T>
void Select(const void* condition_data, const void* x_data, const void* y_data, void* out_data, int64_t n) {
  const uint8_t* const condition = static_cast<const uint8_t*>(condition_data);
  const T* const x = static_cast<const T*>(x_data);
  const T* const y = static_cast<const T*>(y_data);
  T* const out = static_cast<T*>(out_data);
  WHERRY_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const T left = x[i];
    const T right = y[i];
    out[i] = condition[i] != 0 ? left : right;
  }
}

template <TypedOp kOp, typename T>
constexpr TypedTile TileOf() {
  if constexpr (IsComparison(kOp) || (std::is_integral_v<T> && sizeof(T) > 1)) {
    return &Binary<kOp, T>;
  } else {
    return nullptr;
  }
}

template <typename T, int... kOp>
constexpr std::array<TypedTile, kTypedOps> MakeTable(std::integer_sequence<int, kOp...>) {
  return {TileOf<static_cast<TypedOp>(kOp), T>()...};
}

template <typename T>
constexpr std::array<TypedTile, kTypedOps> TilesFor() {
  return MakeTable<T>(std::make_integer_sequence<int, kTypedOps>());
}

// By type as in TypeIndex, by op.
constexpr std::array<std::array<TypedTile, kTypedOps>, 4> kTypedTiles = {TilesFor<float>(), TilesFor<int32_t>(),
                                                                         TilesFor<int64_t>(), TilesFor<uint8_t>()};
template <typename T>
constexpr std::array<TypedTile, kUnaryOps> UnaryTilesFor() {
  if constexpr (std::is_same_v<T, float>) {
    return {nullptr, nullptr, nullptr, &Unary<UnaryOp::kIsInf, T>};
  } else {
    return {&Unary<UnaryOp::kAbs, T>, &Unary<UnaryOp::kNeg, T>, &Unary<UnaryOp::kSign, T>, nullptr};
  }
}
// By type as in TypeIndex, by op.
constexpr std::array<std::array<TypedTile, kUnaryOps>, 3> kUnaryTiles = {
    UnaryTilesFor<float>(), UnaryTilesFor<int32_t>(), UnaryTilesFor<int64_t>()};

template <typename T>
constexpr std::array<TypedTile, kBitOps> BitTilesFor() {
  return {&Bits<BitOp::kAnd, T>, &Bits<BitOp::kOr, T>,        &Bits<BitOp::kXor, T>,
          &Bits<BitOp::kNot, T>, &Bits<BitOp::kShiftLeft, T>, &Bits<BitOp::kShiftRight, T>};
}
// Of 1, 2, 4 and 8 bytes.
constexpr std::array<std::array<TypedTile, kBitOps>, 4> kBitTiles = {BitTilesFor<uint8_t>(), BitTilesFor<uint16_t>(),
                                                                     BitTilesFor<uint32_t>(), BitTilesFor<uint64_t>()};
constexpr std::array<TypedTile, kLogicOps> kLogicTiles = {&Logic<LogicOp::kAnd>, &Logic<LogicOp::kOr>,
                                                          &Logic<LogicOp::kXor>, &Logic<LogicOp::kNot>};
// Of 1, 2, 4 and 8 bytes.
constexpr std::array<TypedTile, 4> kSelectTiles = {&Select<uint8_t>, &Select<uint16_t>, &Select<uint32_t>,
                                                   &Select<uint64_t>};

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {
namespace {

size_t TypeIndex(DataType dtype) {
  switch (dtype) {
    case DataType::kFloat: return 0;
    case DataType::kInt32: return 1;
    case DataType::kInt64: return 2;
    case DataType::kUInt8:
    case DataType::kBool: return 3;
    default: Throw(ErrorCode::kInternal, "no loops for ", ToString(dtype));
  }
}

size_t SizeIndex(size_t size) {
  switch (size) {
    case 1: return 0;
    case 2: return 1;
    case 4: return 2;
    case 8: return 3;
    default: Throw(ErrorCode::kInternal, "no loops for elements of ", size, " bytes");
  }
}

}  // namespace

TypedTile TypedTileOf(TypedOp op, DataType dtype) {
  const TypedTile tile = (*WHERRY_ISA_CALL(kTypedTiles))[TypeIndex(dtype)][static_cast<size_t>(op)];
  WHERRY_CHECK(tile != nullptr, "no loop for operator ", static_cast<int>(op), " on ", ToString(dtype));
  return tile;
}

TypedTile LogicTileOf(LogicOp op) { return (*WHERRY_ISA_CALL(kLogicTiles))[static_cast<size_t>(op)]; }

TypedTile UnaryTileOf(UnaryOp op, DataType dtype) {
  const size_t type = TypeIndex(dtype);
  const auto& tiles = *WHERRY_ISA_CALL(kUnaryTiles);
  const TypedTile tile = type < tiles.size() ? tiles[type][static_cast<size_t>(op)] : nullptr;
  WHERRY_CHECK(tile != nullptr, "no loop for operator ", static_cast<int>(op), " on ", ToString(dtype));
  return tile;
}

TypedTile BitTileOf(BitOp op, size_t size) {
  return (*WHERRY_ISA_CALL(kBitTiles))[SizeIndex(size)][static_cast<size_t>(op)];
}

TypedTile SelectTileOf(size_t size) { return (*WHERRY_ISA_CALL(kSelectTiles))[SizeIndex(size)]; }

}  // namespace wherry::cpu
#endif  // HWY_ONCE
