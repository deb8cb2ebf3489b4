// Compiled without contraction (provider.cmake): a product and the sum after it are rounded one by one.
#include "kernels/cpu/quantized/byte_elementwise.h"

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
void Add(const T* x, const T* y, int64_t count, const QuantizedSum& sum, T* out) {
  const FloatVec least = Set(static_cast<float>(sum.low - sum.out_zero));
  const FloatVec most = Set(static_cast<float>(sum.high - sum.out_zero));
  const FloatVec out_scale = Set(sum.out_scale);
  for (int64_t i = 0; i < count; i += kLanes) {
    const int64_t live = count - i;
    const IntVec a = hn::Sub(LoadIntegers(x + i, live), hn::Set(IntTag(), sum.x_zero));
    const IntVec b = hn::Sub(LoadIntegers(y + i, live), hn::Set(IntTag(), sum.y_zero));
    const FloatVec left = hn::Mul(hn::ConvertTo(FloatTag(), a), Set(sum.x_scale));
    const FloatVec right = hn::Mul(hn::ConvertTo(FloatTag(), b), Set(sum.y_scale));
    const FloatVec steps = hn::Div(hn::Add(left, right), out_scale);
    StoreBytes(ToSteps(steps, least, most, hn::Set(IntTag(), sum.out_zero)), out + i, live);
  }
}

// Not templates, so that tables can name them.
void QuantizeI8(const float* x, int64_t n, const QuantizeStep& s, int8_t* out) { Quantize(x, n, s, out); }
void QuantizeU8(const float* x, int64_t n, const QuantizeStep& s, uint8_t* out) { Quantize(x, n, s, out); }
void QuantizeI16(const float* x, int64_t n, const QuantizeStep& s, int16_t* out) { Quantize(x, n, s, out); }
void QuantizeU16(const float* x, int64_t n, const QuantizeStep& s, uint16_t* out) { Quantize(x, n, s, out); }
void DequantizeI8(const int8_t* x, int64_t n, float s, int32_t z, float* out) { Dequantize(x, n, s, z, out); }
void DequantizeU8(const uint8_t* x, int64_t n, float s, int32_t z, float* out) { Dequantize(x, n, s, z, out); }
void AddI8(const int8_t* x, const int8_t* y, int64_t n, const QuantizedSum& s, int8_t* out) { Add(x, y, n, s, out); }
void AddU8(const uint8_t* x, const uint8_t* y, int64_t n, const QuantizedSum& s, uint8_t* out) { Add(x, y, n, s, out); }

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
void QuantizedAddRow(const int8_t* x, const int8_t* y, int64_t count, const QuantizedSum& sum, int8_t* out) {
  WHERRY_ISA_CALL(AddI8)(x, y, count, sum, out);
}
template <>
void QuantizedAddRow(const uint8_t* x, const uint8_t* y, int64_t count, const QuantizedSum& sum, uint8_t* out) {
  WHERRY_ISA_CALL(AddU8)(x, y, count, sum, out);
}

}  // namespace wherry::cpu
#endif  // HWY_ONCE
