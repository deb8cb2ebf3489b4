// Compiled without contraction (provider.cmake): a product and the sum after it are rounded one by one.
#include "kernels/cpu/quantized/byte_elementwise.h"

#include <algorithm>
#include <limits>

#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/quantized/byte_elementwise.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/quantized/byte_result-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

template <typename T>
HWY_INLINE IntVec LoadIntegers(const T* p, int64_t live) {
  const hn::Rebind<T, IntTag> tag;
  if (HWY_LIKELY(live >= kLanes)) return hn::PromoteTo(IntTag(), hn::LoadU(tag, p));
  HWY_ALIGN T buffer[kLanes] = {};
  std::memcpy(buffer, p, static_cast<size_t>(live) * sizeof(T));
  return hn::PromoteTo(IntTag(), hn::LoadU(tag, buffer));
}

HWY_INLINE FloatVec LoadFloats(const float* p, int64_t live) { return live >= kLanes ? Load(p) : LoadN(p, live); }

// Ties away from 0 instead of to even; whole numbers stay.
HWY_INLINE FloatVec RoundTiesAway(FloatVec v) {
  const FloatVec rounded = hn::Round(v);
  const FloatVec rest = hn::Sub(v, rounded);
  const FloatVec half = hn::CopySign(Set(0.5F), v);
  return hn::IfThenElse(hn::Eq(rest, half), hn::Add(rounded, hn::Add(half, half)), rounded);
}

template <typename T>
void Quantize(const float* x, int64_t count, const QuantizeStep& step, T* out) {
  const FloatVec scale = Set(step.scale);
  const FloatVec least = Set(static_cast<float>(std::numeric_limits<T>::lowest() - step.zero));
  const FloatVec most = Set(static_cast<float>(std::numeric_limits<T>::max() - step.zero));
  const IntVec zero = hn::Set(IntTag(), step.zero);
  for (int64_t i = 0; i < count; i += kLanes) {
    FloatVec steps = hn::Div(LoadFloats(x + i, count - i), scale);
    if (step.ties_away) steps = RoundTiesAway(steps);
    StoreBytes(ToSteps(steps, least, most, zero), out + i, count - i);
  }
}

template <typename T>
void Dequantize(const T* x, int64_t count, float scale, int32_t zero, float* out) {
  const FloatVec factor = Set(scale);
  const IntVec zeros = hn::Set(IntTag(), zero);
  for (int64_t i = 0; i < count; i += kLanes) {
    const IntVec steps = hn::Sub(LoadIntegers(x + i, count - i), zeros);
    const FloatVec value = hn::Mul(hn::ConvertTo(FloatTag(), steps), factor);
    if (count - i >= kLanes) {
      Store(value, out + i);
    } else {
      StoreN(value, out + i, count - i);
    }
  }
}

template <typename T>
HWY_INLINE IntVec LoadZeros(const T* zeros, int64_t i, int64_t live) {
  return zeros == nullptr ? hn::Zero(IntTag()) : LoadIntegers(zeros + i, live);
}

template <typename T>
void QuantizeByEach(const float* x, int64_t count, const float* scales, const T* zeros, bool ties_away, T* out) {
  const IntVec least = hn::Set(IntTag(), std::numeric_limits<T>::lowest());
  const IntVec most = hn::Set(IntTag(), std::numeric_limits<T>::max());
  for (int64_t i = 0; i < count; i += kLanes) {
    const int64_t live = count - i;
    FloatVec steps = hn::Div(LoadFloats(x + i, live), LoadFloats(scales + i, live));
    if (ties_away) steps = RoundTiesAway(steps);
    const IntVec zero = LoadZeros(zeros, i, live);
    const FloatVec low = hn::ConvertTo(FloatTag(), hn::Sub(least, zero));
    const FloatVec high = hn::ConvertTo(FloatTag(), hn::Sub(most, zero));
    StoreBytes(ToSteps(steps, low, high, zero), out + i, live);
  }
}

template <typename T>
void DequantizeByEach(const T* x, int64_t count, const float* scales, const T* zeros, float* out) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const int64_t live = count - i;
    const IntVec steps = hn::Sub(LoadIntegers(x + i, live), LoadZeros(zeros, i, live));
    const FloatVec value = hn::Mul(hn::ConvertTo(FloatTag(), steps), LoadFloats(scales + i, live));
    if (live >= kLanes) {
      Store(value, out + i);
    } else {
      StoreN(value, out + i, live);
    }
  }
}

// The numbers that a row of integers stands for, or one for all.
template <typename T>
class NumbersOf {
 public:
  HWY_INLINE NumbersOf(const T* row, int64_t step, float scale, int32_t zero)
      : row_(row), step_(step), scale_(Set(scale)), zero_(hn::Set(IntTag(), zero)) {
    one_ = Number(hn::Set(IntTag(), row[0]));
  }
  HWY_INLINE FloatVec At(int64_t i, int64_t live) const {
    return step_ == 0 ? one_ : Number(LoadIntegers(row_ + i, live));
  }

 private:
  HWY_INLINE FloatVec Number(IntVec v) const { return hn::Mul(hn::ConvertTo(FloatTag(), hn::Sub(v, zero_)), scale_); }

  const T* row_;
  int64_t step_;
  FloatVec scale_;
  IntVec zero_;
  FloatVec one_;
};

template <typename T, typename Function>
void Pair(const T* x, int64_t x_step, const T* y, int64_t y_step, int64_t count, const QuantizedPair& pair, T* out,
          const Function& function) {
  const NumbersOf<T> left(x, x_step, pair.x_scale, pair.x_zero);
  const NumbersOf<T> right(y, y_step, pair.y_scale, pair.y_zero);
  const FloatVec least = Set(static_cast<float>(pair.low - pair.out_zero));
  const FloatVec most = Set(static_cast<float>(pair.high - pair.out_zero));
  const FloatVec out_scale = Set(pair.out_scale);
  const IntVec zero = hn::Set(IntTag(), pair.out_zero);
  for (int64_t i = 0; i < count; i += kLanes) {
    const int64_t live = count - i;
    const FloatVec steps = hn::Div(function(left.At(i, live), right.At(i, live)), out_scale);
    StoreBytes(ToSteps(steps, least, most, zero), out + i, live);
  }
}

template <typename T>
void Add(const T* x, int64_t x_step, const T* y, int64_t y_step, int64_t count, const QuantizedPair& pair, T* out) {
  Pair(x, x_step, y, y_step, count, pair, out, [](FloatVec a, FloatVec b) HWY_ATTR { return hn::Add(a, b); });
}

template <typename T>
void Multiply(const T* x, int64_t x_step, const T* y, int64_t y_step, int64_t count, const QuantizedPair& pair,
              T* out) {
  Pair(x, x_step, y, y_step, count, pair, out, [](FloatVec a, FloatVec b) HWY_ATTR { return hn::Mul(a, b); });
}

template <typename T>
void Sums(const T* x, int64_t rows, int64_t stride, int64_t count, int32_t* sums) {
  const IntTag tag;
  // As many columns at a time as a line of memory has.
  constexpr int64_t kVectors = 4;
  for (int64_t at = 0; at < count; at += kVectors * kLanes) {
    IntVec sum[kVectors];
    for (IntVec& part : sum) part = hn::Zero(tag);
    const bool whole = count - at >= kVectors * kLanes;
    for (int64_t r = 0; r < rows; ++r) {
      const T* const row = x + r * stride + at;
      WHERRY_UNROLL
      for (int64_t v = 0; v < kVectors; ++v) {
        const int64_t live = whole ? kLanes : count - at - v * kLanes;
        if (live > 0) sum[v] = hn::Add(sum[v], LoadIntegers(row + v * kLanes, live));
      }
    }
    for (int64_t v = 0; v < kVectors; ++v) {
      HWY_ALIGN int32_t buffer[kLanes];
      hn::Store(sum[v], tag, buffer);
      const int64_t live = std::clamp<int64_t>(count - at - v * kLanes, 0, kLanes);
      std::copy_n(buffer, live, sums + at + v * kLanes);
    }
  }
}

template <typename T>
int32_t SumOf(const T* x, int64_t count) {
  IntVec sum = hn::Zero(IntTag());
  for (int64_t i = 0; i < count; i += kLanes) sum = hn::Add(sum, LoadIntegers(x + i, count - i));
  return hn::GetLane(hn::SumOfLanes(IntTag(), sum));
}

// Not templates, so that tables can name them.
void QuantizeI8(const float* x, int64_t n, const QuantizeStep& s, int8_t* out) { Quantize(x, n, s, out); }
void QuantizeU8(const float* x, int64_t n, const QuantizeStep& s, uint8_t* out) { Quantize(x, n, s, out); }
void QuantizeI16(const float* x, int64_t n, const QuantizeStep& s, int16_t* out) { Quantize(x, n, s, out); }
void QuantizeU16(const float* x, int64_t n, const QuantizeStep& s, uint16_t* out) { Quantize(x, n, s, out); }
void DequantizeI8(const int8_t* x, int64_t n, float s, int32_t z, float* out) { Dequantize(x, n, s, z, out); }
void DequantizeU8(const uint8_t* x, int64_t n, float s, int32_t z, float* out) { Dequantize(x, n, s, z, out); }
void QuantizeEachI8(const float* x, int64_t n, const float* s, const int8_t* z, bool away, int8_t* out) {
  QuantizeByEach(x, n, s, z, away, out);
}
void QuantizeEachU8(const float* x, int64_t n, const float* s, const uint8_t* z, bool away, uint8_t* out) {
  QuantizeByEach(x, n, s, z, away, out);
}
void QuantizeEachI16(const float* x, int64_t n, const float* s, const int16_t* z, bool away, int16_t* out) {
  QuantizeByEach(x, n, s, z, away, out);
}
void QuantizeEachU16(const float* x, int64_t n, const float* s, const uint16_t* z, bool away, uint16_t* out) {
  QuantizeByEach(x, n, s, z, away, out);
}
void DequantizeEachI8(const int8_t* x, int64_t n, const float* s, const int8_t* z, float* out) {
  DequantizeByEach(x, n, s, z, out);
}
void DequantizeEachU8(const uint8_t* x, int64_t n, const float* s, const uint8_t* z, float* out) {
  DequantizeByEach(x, n, s, z, out);
}
void AddI8(const int8_t* x, int64_t sx, const int8_t* y, int64_t sy, int64_t n, const QuantizedPair& p, int8_t* out) {
  Add(x, sx, y, sy, n, p, out);
}
void AddU8(const uint8_t* x, int64_t sx, const uint8_t* y, int64_t sy, int64_t n, const QuantizedPair& p,
           uint8_t* out) {
  Add(x, sx, y, sy, n, p, out);
}
void MultiplyI8(const int8_t* x, int64_t sx, const int8_t* y, int64_t sy, int64_t n, const QuantizedPair& p,
                int8_t* out) {
  Multiply(x, sx, y, sy, n, p, out);
}
void MultiplyU8(const uint8_t* x, int64_t sx, const uint8_t* y, int64_t sy, int64_t n, const QuantizedPair& p,
                uint8_t* out) {
  Multiply(x, sx, y, sy, n, p, out);
}

void SumsI8(const int8_t* x, int64_t rows, int64_t stride, int64_t n, int32_t* sums) { Sums(x, rows, stride, n, sums); }
int32_t SumI8(const int8_t* x, int64_t n) { return SumOf(x, n); }
void SumsU8(const uint8_t* x, int64_t rows, int64_t stride, int64_t n, int32_t* sums) {
  Sums(x, rows, stride, n, sums);
}
int32_t SumU8(const uint8_t* x, int64_t n) { return SumOf(x, n); }

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {

template <>
void QuantizeRow(const float* x, int64_t count, const QuantizeStep& step, int8_t* out) {
  WHERRY_ISA_CALL(QuantizeI8)(x, count, step, out);
}
template <>
void QuantizeRow(const float* x, int64_t count, const QuantizeStep& step, uint8_t* out) {
  WHERRY_ISA_CALL(QuantizeU8)(x, count, step, out);
}
template <>
void QuantizeRow(const float* x, int64_t count, const QuantizeStep& step, int16_t* out) {
  WHERRY_ISA_CALL(QuantizeI16)(x, count, step, out);
}
template <>
void QuantizeRow(const float* x, int64_t count, const QuantizeStep& step, uint16_t* out) {
  WHERRY_ISA_CALL(QuantizeU16)(x, count, step, out);
}
template <>
void DequantizeRow(const int8_t* x, int64_t count, float scale, int32_t zero, float* out) {
  WHERRY_ISA_CALL(DequantizeI8)(x, count, scale, zero, out);
}
template <>
void DequantizeRow(const uint8_t* x, int64_t count, float scale, int32_t zero, float* out) {
  WHERRY_ISA_CALL(DequantizeU8)(x, count, scale, zero, out);
}
template <>
void QuantizeEach(const float* x, int64_t count, const float* scales, const int8_t* zeros, bool ties_away,
                  int8_t* out) {
  WHERRY_ISA_CALL(QuantizeEachI8)(x, count, scales, zeros, ties_away, out);
}
template <>
void QuantizeEach(const float* x, int64_t count, const float* scales, const uint8_t* zeros, bool ties_away,
                  uint8_t* out) {
  WHERRY_ISA_CALL(QuantizeEachU8)(x, count, scales, zeros, ties_away, out);
}
template <>
void QuantizeEach(const float* x, int64_t count, const float* scales, const int16_t* zeros, bool ties_away,
                  int16_t* out) {
  WHERRY_ISA_CALL(QuantizeEachI16)(x, count, scales, zeros, ties_away, out);
}
template <>
void QuantizeEach(const float* x, int64_t count, const float* scales, const uint16_t* zeros, bool ties_away,
                  uint16_t* out) {
  WHERRY_ISA_CALL(QuantizeEachU16)(x, count, scales, zeros, ties_away, out);
}
template <>
void DequantizeEach(const int8_t* x, int64_t count, const float* scales, const int8_t* zeros, float* out) {
  WHERRY_ISA_CALL(DequantizeEachI8)(x, count, scales, zeros, out);
}
template <>
void DequantizeEach(const uint8_t* x, int64_t count, const float* scales, const uint8_t* zeros, float* out) {
  WHERRY_ISA_CALL(DequantizeEachU8)(x, count, scales, zeros, out);
}
template <>
void QuantizedAddRow(const int8_t* x, int64_t x_step, const int8_t* y, int64_t y_step, int64_t count,
                     const QuantizedPair& pair, int8_t* out) {
  WHERRY_ISA_CALL(AddI8)(x, x_step, y, y_step, count, pair, out);
}
template <>
void QuantizedAddRow(const uint8_t* x, int64_t x_step, const uint8_t* y, int64_t y_step, int64_t count,
                     const QuantizedPair& pair, uint8_t* out) {
  WHERRY_ISA_CALL(AddU8)(x, x_step, y, y_step, count, pair, out);
}
template <>
void QuantizedMultiplyRow(const int8_t* x, int64_t x_step, const int8_t* y, int64_t y_step, int64_t count,
                          const QuantizedPair& pair, int8_t* out) {
  WHERRY_ISA_CALL(MultiplyI8)(x, x_step, y, y_step, count, pair, out);
}
template <>
void QuantizedMultiplyRow(const uint8_t* x, int64_t x_step, const uint8_t* y, int64_t y_step, int64_t count,
                          const QuantizedPair& pair, uint8_t* out) {
  WHERRY_ISA_CALL(MultiplyU8)(x, x_step, y, y_step, count, pair, out);
}

template <>
void SumRows(const int8_t* x, int64_t rows, int64_t stride, int64_t count, int32_t* sums) {
  WHERRY_ISA_CALL(SumsI8)(x, rows, stride, count, sums);
}
template <>
int32_t SumOfRow(const int8_t* x, int64_t count) {
  return WHERRY_ISA_CALL(SumI8)(x, count);
}
template <>
void SumRows(const uint8_t* x, int64_t rows, int64_t stride, int64_t count, int32_t* sums) {
  WHERRY_ISA_CALL(SumsU8)(x, rows, stride, count, sums);
}
template <>
int32_t SumOfRow(const uint8_t* x, int64_t count) {
  return WHERRY_ISA_CALL(SumU8)(x, count);
}

}  // namespace wherry::cpu
#endif  // HWY_ONCE
