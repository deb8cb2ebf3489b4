// Stores sums as ByteResult says. Per-instruction-set header: the guard toggles.
#if defined(WHERRY_KERNELS_CPU_QUANTIZED_BYTE_RESULT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WHERRY_KERNELS_CPU_QUANTIZED_BYTE_RESULT_INL_H_
#undef WHERRY_KERNELS_CPU_QUANTIZED_BYTE_RESULT_INL_H_
#else
#define WHERRY_KERNELS_CPU_QUANTIZED_BYTE_RESULT_INL_H_
#endif

#include "kernels/cpu/quantized/byte_result.h"
#include "kernels/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {

// Steps as bytes: within [least, most], rounded, plus zero. NaN is the least: x86's max gives its second operand then.
HWY_INLINE IntVec ToSteps(FloatVec steps, FloatVec least, FloatVec most, IntVec zero) {
  return hn::Add(hn::NearestInt(hn::Min(hn::Max(steps, least), most)), zero);
}

// The first `live` lanes as T.
template <typename T>
HWY_INLINE void StoreBytes(IntVec v, T* to, int64_t live) {
  const hn::Rebind<T, IntTag> tag;
  const auto bytes = hn::DemoteTo(tag, v);
  if (HWY_LIKELY(live >= kLanes)) {
    hn::StoreU(bytes, tag, to);
  } else {
    HWY_ALIGN T buffer[kLanes];
    hn::StoreU(bytes, tag, buffer);
    std::memcpy(to, buffer, static_cast<size_t>(live) * sizeof(T));
  }
}

// `live` sums of a row from column `col` on. row_sum: of the row's factors; not looked at without weight_zeros.
HWY_INLINE void StoreSums(const ByteResult& r, IntVec sums, int32_t row_sum, int64_t row, int64_t col, int64_t live) {
  const IntTag tag;
  IntVec v = hn::Add(sums, hn::LoadU(tag, r.offsets + col));
  if (r.weight_zeros != nullptr) {
    v = hn::Sub(v, hn::Mul(hn::LoadU(tag, r.weight_zeros + col), hn::Set(tag, row_sum)));
  }
  const int64_t at = row * r.stride + col;
  if (r.kind == ResultKind::kInt32) {
    StoreN(hn::BitCast(FloatTag(), v), reinterpret_cast<float*>(static_cast<int32_t*>(r.data) + at),
           live < kLanes ? live : kLanes);
    return;
  }
  const FloatVec scaled = hn::Mul(hn::ConvertTo(FloatTag(), v), Load(r.scales + col));
  if (r.kind == ResultKind::kFloat) {
    StoreN(scaled, static_cast<float*>(r.data) + at, live < kLanes ? live : kLanes);
    return;
  }
  const IntVec steps = ToSteps(scaled, Set(r.least), Set(r.most), hn::Set(tag, r.zero));
  if (r.kind == ResultKind::kUInt8) {
    StoreBytes(steps, static_cast<uint8_t*>(r.data) + at, live);
  } else {
    StoreBytes(steps, static_cast<int8_t*>(r.data) + at, live);
  }
}

}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
