#include "kernels/cpu/vector/integer_division.h"

#include <array>
#include <type_traits>

#include "base/check.h"
#include "kernels/cpu/simd/isa.h"

#ifndef WHERRY_KERNELS_CPU_VECTOR_INTEGER_DIVISION_SLOW_
#define WHERRY_KERNELS_CPU_VECTOR_INTEGER_DIVISION_SLOW_
namespace wherry::cpu {
// Any numbers, one by one.
void DivideEach(DivisionOp op, const int32_t* x, const int32_t* y, int32_t* out, int64_t n);
void DivideEach(DivisionOp op, const int64_t* x, const int64_t* y, int64_t* out, int64_t n);
}  // namespace wherry::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/vector/integer_division.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

using WideTag = hn::ScalableTag<double>;
using WideVec = hn::Vec<WideTag>;
using LongTag = hn::RebindToSigned<WideTag>;
using HalfIntTag = hn::Rebind<int32_t, WideTag>;
constexpr int64_t kWideLanes = HWY_LANES(double);

// Doubles of this size count by ones: added to an integer below 2^51, it leaves that in the lowest bits.
constexpr double kBias = 6755399441055744.0;  // 1.5 * 2^52
constexpr int64_t kBiasBits = 0x4338000000000000;

HWY_INLINE WideVec LoadWide(const int64_t* p) {
  const LongTag tag;
  const auto biased = hn::Add(hn::LoadU(tag, p), hn::Set(tag, kBiasBits));
  return hn::Sub(hn::BitCast(WideTag(), biased), hn::Set(WideTag(), kBias));
}
HWY_INLINE WideVec LoadWide(const int32_t* p) { return hn::PromoteTo(WideTag(), hn::LoadU(HalfIntTag(), p)); }
HWY_INLINE void StoreWide(WideVec v, int64_t* p) {
  const LongTag tag;
  const auto biased = hn::BitCast(tag, hn::Add(v, hn::Set(WideTag(), kBias)));
  hn::StoreU(hn::Sub(biased, hn::Set(tag, kBiasBits)), tag, p);
}
HWY_INLINE void StoreWide(WideVec v, int32_t* p) { hn::StoreU(hn::DemoteTo(HalfIntTag(), v), HalfIntTag(), p); }

// The quotient of two integers below 2^50 is further from a whole number than a double's rounding, or is one.
template <DivisionOp kOp>
HWY_INLINE WideVec Divided(WideVec x, WideVec y) {
  const WideTag tag;
  const WideVec quotient = hn::Trunc(hn::Div(x, y));
  if constexpr (kOp == DivisionOp::kQuotient) return quotient;
  const WideVec rest = hn::NegMulAdd(quotient, y, x);
  if constexpr (kOp == DivisionOp::kRemainder) return rest;
  const auto differ = hn::Lt(hn::Mul(rest, y), hn::Zero(tag));  // the signs, where there is a rest
  if constexpr (kOp == DivisionOp::kFloorQuotient) {
    return hn::Sub(quotient, hn::IfThenElseZero(differ, hn::Set(tag, 1.0)));
  }
  return hn::Add(rest, hn::IfThenElseZero(differ, y));
}

// Whether some pair is not for doubles: a divisor of 0, the quotient that wraps, a number that is too long.
HWY_INLINE bool IsSpecial(const int32_t* /*x*/, const int32_t* y, int64_t n) {
  uint32_t any = 0;
  for (int64_t i = 0; i < n; ++i) any |= static_cast<uint32_t>(static_cast<uint32_t>(y[i]) + 1U <= 1U);
  return any != 0;
}
HWY_INLINE bool IsSpecial(const int64_t* x, const int64_t* y, int64_t n) {
  constexpr uint64_t kMost = uint64_t{1} << 50;
  uint64_t any = 0;
  for (int64_t i = 0; i < n; ++i) {
    any |= (static_cast<uint64_t>(x[i]) + kMost) >> 51;
    any |= (static_cast<uint64_t>(y[i]) + kMost) >> 51;
    any |= static_cast<uint64_t>(y[i] == 0);
  }
  return any != 0;
}

template <DivisionOp kOp, typename T>
void Divide(const void* x_data, const void* y_data, const void* /*z*/, void* out_data, int64_t n) {
  const T* x = static_cast<const T*>(x_data);
  const T* y = static_cast<const T*>(y_data);
  T* out = static_cast<T*>(out_data);
  constexpr int64_t kBlock = 256;
  for (; n > 0; n -= kBlock, x += kBlock, y += kBlock, out += kBlock) {
    const int64_t count = n < kBlock ? n : kBlock;
    if (IsSpecial(x, y, count)) {
      DivideEach(kOp, x, y, out, count);
      continue;
    }
    int64_t i = 0;
    for (; i + kWideLanes <= count; i += kWideLanes) {
      StoreWide(Divided<kOp>(LoadWide(x + i), LoadWide(y + i)), out + i);
    }
    if (i == count) continue;
    HWY_ALIGN T left[kWideLanes] = {};
    HWY_ALIGN T right[kWideLanes];
    for (int64_t k = 0; k < kWideLanes; ++k) right[k] = 1;
    for (int64_t k = 0; i + k < count; ++k) {
      left[k] = x[i + k];
      right[k] = y[i + k];
    }
    StoreWide(Divided<kOp>(LoadWide(left), LoadWide(right)), left);
    for (int64_t k = 0; i + k < count; ++k) out[i + k] = left[k];
  }
}

template <typename T>
constexpr std::array<TypedTile, kDivisionOps> TilesFor() {
  return {&Divide<DivisionOp::kQuotient, T>, &Divide<DivisionOp::kFloorQuotient, T>, &Divide<DivisionOp::kRemainder, T>,
          &Divide<DivisionOp::kFloorRemainder, T>};
}
constexpr std::array<std::array<TypedTile, kDivisionOps>, 2> kDivisionTiles = {TilesFor<int32_t>(),
                                                                               TilesFor<int64_t>()};

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {
namespace {

template <typename T>
T DivideOne(DivisionOp op, T x, T y) {
  WHERRY_ENFORCE(y != 0, kInvalidArgument, "integer division by zero");
  const bool is_quotient = op == DivisionOp::kQuotient || op == DivisionOp::kFloorQuotient;
  if (y == -1) {
    using U = std::make_unsigned_t<T>;
    return is_quotient ? static_cast<T>(U{0} - static_cast<U>(x)) : T{0};
  }
  const T rest = static_cast<T>(x % y);
  const bool down = rest != 0 && (rest < 0) != (y < 0);
  switch (op) {
    case DivisionOp::kQuotient: return static_cast<T>(x / y);
    case DivisionOp::kFloorQuotient: return static_cast<T>(x / y - (down ? 1 : 0));
    case DivisionOp::kRemainder: return rest;
    default: return down ? static_cast<T>(rest + y) : rest;
  }
}

template <typename T>
void DivideAll(DivisionOp op, const T* x, const T* y, T* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = DivideOne(op, x[i], y[i]);
}

}  // namespace

void DivideEach(DivisionOp op, const int32_t* x, const int32_t* y, int32_t* out, int64_t n) {
  DivideAll(op, x, y, out, n);
}
void DivideEach(DivisionOp op, const int64_t* x, const int64_t* y, int64_t* out, int64_t n) {
  DivideAll(op, x, y, out, n);
}

TypedTile DivisionTileOf(DivisionOp op, DataType dtype) {
  WHERRY_CHECK(dtype == DataType::kInt32 || dtype == DataType::kInt64, "no division of ", ToString(dtype));
  const auto& tiles = *WHERRY_ISA_CALL(kDivisionTiles);
  return tiles[dtype == DataType::kInt32 ? 0 : 1][static_cast<size_t>(op)];
}

}  // namespace wherry::cpu
#endif  // HWY_ONCE
