#include "kernels/cpu/vector/cast.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/cpu/simd/isa.h"

#ifndef WHERRY_KERNELS_CPU_VECTOR_CAST_ONCE_
#define WHERRY_KERNELS_CPU_VECTOR_CAST_ONCE_
namespace wherry::cpu {
namespace {
enum CastPair { kFromHalf, kToHalf, kFromBrain, kToBrain, kFromBool, kToInt32, kToInt64, kToInt8, kToUInt8 };
constexpr int kCastPairs = 9;
}  // namespace
// Any numbers, one by one.
void ToInt64Each(const float* x, int64_t* out, int64_t n);
}  // namespace wherry::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/vector/cast.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/simd/half-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

// A vector's worth of T from and to floats. T is what memory holds: uint16_t for bf16.
using BrainTag = hn::Rebind<uint16_t, FloatTag>;

struct HalfToFloat {
  using From = hwy::float16_t;
  using To = float;
  HWY_INLINE void operator()(const From* x, To* out) const { Store(LoadHalves(x), out); }
};
struct FloatToHalf {
  using From = float;
  using To = hwy::float16_t;
  HWY_INLINE void operator()(const From* x, To* out) const {
    hn::StoreU(hn::DemoteTo(HalfTag(), Load(x)), HalfTag(), out);
  }
};
struct BrainToFloat {
  using From = uint16_t;
  using To = float;
  HWY_INLINE void operator()(const From* x, To* out) const {
    const auto bits = hn::PromoteTo(hn::RebindToUnsigned<FloatTag>(), hn::LoadU(BrainTag(), x));
    Store(hn::BitCast(FloatTag(), hn::ShiftLeft<16>(bits)), out);
  }
};
// To the nearest, ties to even; a NaN stays one.
struct FloatToBrain {
  using From = float;
  using To = uint16_t;
  HWY_INLINE void operator()(const From* x, To* out) const {
    const IntTag tag;
    const FloatVec v = Load(x);
    const IntVec bits = hn::BitCast(tag, v);
    const IntVec odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(tag, 1));
    const IntVec rounded = hn::Add(bits, hn::Add(odd, hn::Set(tag, 0x7FFF)));
    const IntVec quiet = hn::Or(bits, hn::Set(tag, 0x400000));
    const IntVec chosen = hn::IfThenElse(hn::RebindMask(tag, hn::IsNaN(v)), quiet, rounded);
    // As numbers of 0 to 65535 they are in the range of what they become.
    const IntVec high = hn::And(hn::ShiftRight<16>(chosen), hn::Set(tag, 0xFFFF));
    hn::StoreU(hn::DemoteTo(BrainTag(), high), BrainTag(), out);
  }
};
struct BoolToFloat {
  using From = uint8_t;
  using To = float;
  HWY_INLINE void operator()(const From* x, To* out) const {
    const hn::Rebind<uint8_t, IntTag> bytes;
    Store(hn::ConvertTo(FloatTag(), hn::PromoteTo(IntTag(), hn::LoadU(bytes, x))), out);
  }
};

HWY_INLINE FloatVec ZeroForNan(FloatVec v) { return hn::IfThenElseZero(hn::Eq(v, v), v); }

struct FloatToInt32 {
  using From = float;
  using To = int32_t;
  HWY_INLINE void operator()(const From* x, To* out) const {
    const IntTag tag;
    const FloatVec v = ZeroForNan(Load(x));
    const auto beyond = hn::RebindMask(tag, hn::Ge(v, Set(2147483648.0f)));
    // What lies below the least becomes that.
    const IntVec whole = hn::ConvertTo(tag, hn::Max(v, Set(-2147483648.0f)));
    hn::StoreU(hn::IfThenElse(beyond, hn::Set(tag, std::numeric_limits<int32_t>::max()), whole), tag, out);
  }
};
template <typename T>
struct FloatToByte {
  using From = float;
  using To = T;
  HWY_INLINE void operator()(const From* x, To* out) const {
    const FloatVec least = Set(static_cast<float>(std::numeric_limits<T>::lowest()));
    const FloatVec most = Set(static_cast<float>(std::numeric_limits<T>::max()));
    const hn::Rebind<T, IntTag> tag;
    const IntVec whole = hn::ConvertTo(IntTag(), hn::Min(hn::Max(ZeroForNan(Load(x)), least), most));
    hn::StoreU(hn::DemoteTo(tag, whole), tag, out);
  }
};

template <class Convert>
void Cast(const void* x_data, const void* /*y*/, const void* /*z*/, void* out_data, int64_t n) {
  using From = typename Convert::From;
  using To = typename Convert::To;
  const Convert convert;
  const From* const x = static_cast<const From*>(x_data);
  To* const out = static_cast<To*>(out_data);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) convert(x + i, out + i);
  if (i == n) return;
  HWY_ALIGN From from[kLanes] = {};
  HWY_ALIGN To to[kLanes];
  std::memcpy(from, x + i, static_cast<size_t>(n - i) * sizeof(From));
  convert(from, to);
  std::memcpy(out + i, to, static_cast<size_t>(n - i) * sizeof(To));
}

// By way of doubles where all of some numbers are below 2^50.
void CastToInt64(const void* x_data, const void* /*y*/, const void* /*z*/, void* out_data, int64_t n) {
  const hn::ScalableTag<double> wide;
  const hn::Rebind<float, hn::ScalableTag<double>> narrow;
  const hn::RebindToSigned<hn::ScalableTag<double>> integers;
  constexpr int64_t kWide = HWY_LANES(double);
  constexpr int64_t kBlock = 64;
  const float* x = static_cast<const float*>(x_data);
  int64_t* out = static_cast<int64_t*>(out_data);
  for (; n >= kBlock; n -= kBlock, x += kBlock, out += kBlock) {
    FloatMask fits = hn::Lt(hn::Abs(Load(x)), Set(1.125899906842624e15f));
    for (int64_t i = kLanes; i < kBlock; i += kLanes) {
      fits = hn::And(fits, hn::Lt(hn::Abs(Load(x + i)), Set(1.125899906842624e15f)));
    }
    if (!hn::AllTrue(FloatTag(), fits)) {
      ToInt64Each(x, out, kBlock);
      continue;
    }
    // As in integer_division.cc.
    for (int64_t i = 0; i < kBlock; i += kWide) {
      const auto whole = hn::Trunc(hn::PromoteTo(wide, hn::LoadU(narrow, x + i)));
      const auto biased = hn::BitCast(integers, hn::Add(whole, hn::Set(wide, 6755399441055744.0)));
      hn::StoreU(hn::Sub(biased, hn::Set(integers, 0x4338000000000000)), integers, out + i);
    }
  }
  ToInt64Each(x, out, n);
}

constexpr TypedTile kFloatToHalf = HWY_TARGET == HWY_SSE4 ? nullptr : &Cast<FloatToHalf>;
constexpr std::array<TypedTile, kCastPairs> kCastTiles = {
    &Cast<HalfToFloat>,  kFloatToHalf, &Cast<BrainToFloat>,        &Cast<FloatToBrain>,        &Cast<BoolToFloat>,
    &Cast<FloatToInt32>, &CastToInt64, &Cast<FloatToByte<int8_t>>, &Cast<FloatToByte<uint8_t>>};

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {

void ToInt64Each(const float* x, int64_t* out, int64_t n) {
  using Limits = std::numeric_limits<int64_t>;
  for (int64_t i = 0; i < n; ++i) {
    constexpr float kBeyond = 9223372036854775808.0F;
    if (std::isnan(x[i])) {
      out[i] = 0;
    } else if (x[i] >= kBeyond) {
      out[i] = Limits::max();
    } else {
      out[i] = x[i] <= -kBeyond ? Limits::min() : static_cast<int64_t>(x[i]);
    }
  }
}

TypedTile CastTileOf(DataType from, DataType to) {
  const auto& tiles = *WHERRY_ISA_CALL(kCastTiles);
  if (to == DataType::kFloat) {
    switch (from) {
      case DataType::kFP16: return tiles[kFromHalf];
      case DataType::kBF16: return tiles[kFromBrain];
      case DataType::kBool: return tiles[kFromBool];
      default: return nullptr;
    }
  }
  if (from != DataType::kFloat) return nullptr;
  switch (to) {
    case DataType::kFP16: return tiles[kToHalf];
    case DataType::kBF16: return tiles[kToBrain];
    case DataType::kInt32: return tiles[kToInt32];
    case DataType::kInt64: return tiles[kToInt64];
    case DataType::kInt8: return tiles[kToInt8];
    case DataType::kUInt8: return tiles[kToUInt8];
    default: return nullptr;
  }
}

}  // namespace wherry::cpu
#endif  // HWY_ONCE
