// Stores sums as ByteResult says. Per-instruction-set header: the guard toggles.
#if defined(WHERRY_KERNELS_CPU_QUANTIZED_BYTE_RESULT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WHERRY_KERNELS_CPU_QUANTIZED_BYTE_RESULT_INL_H_
#undef WHERRY_KERNELS_CPU_QUANTIZED_BYTE_RESULT_INL_H_
#else
#define WHERRY_KERNELS_CPU_QUANTIZED_BYTE_RESULT_INL_H_
#endif

#include <algorithm>

#include "kernels/cpu/quantized/byte_result.h"
#include "kernels/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {

using ByteTag = hn::Repartition<uint8_t, IntTag>;
using ByteVec = hn::Vec<ByteTag>;

// Steps as bytes: within [least, most], rounded, plus zero. NaN is the least: Highway's max gives its second operand
// then.
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

// The first `count` bytes of a vector; touches no memory past them. In halves: stores under a mask of bytes take 20
// cycles and more on AMD's processors.
template <class Tag>
HWY_INLINE void StoreFirstBytes(Tag tag, hn::Vec<Tag> v, uint8_t* to, int64_t count) {
  constexpr int64_t kBytes = static_cast<int64_t>(hn::MaxLanes(Tag()));
  if (HWY_LIKELY(count >= kBytes)) {
    hn::StoreU(v, tag, to);
    return;
  }
  if (count <= 0) return;
  if constexpr (kBytes > 1) {
    const hn::Half<Tag> half;
    if (count >= kBytes / 2) {
      hn::StoreU(hn::LowerHalf(half, v), half, to);
      StoreFirstBytes(half, hn::UpperHalf(half, v), to + kBytes / 2, count - kBytes / 2);
    } else {
      StoreFirstBytes(half, hn::LowerHalf(half, v), to, count);
    }
  }
}

// Words of 0 to 255 as bytes: within each 16, eight of a, then eight of b. Highway 1.0.3 has no such operation.
HWY_INLINE ByteVec PackWords(WordVec a, WordVec b) {
#if HWY_TARGET == HWY_AVX3
  return ByteVec{_mm512_packus_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_AVX2
  return ByteVec{_mm256_packus_epi16(a.raw, b.raw)};
#else
  const hn::Half<ByteTag> half;
  return hn::Combine(ByteTag(), hn::DemoteTo(half, b), hn::DemoteTo(half, a));
#endif
}

// The nearest whole numbers, ties to even; on x86 the least i32 for what none holds, and for NaN.
HWY_INLINE IntVec Nearest(FloatVec v) {
#if HWY_TARGET == HWY_AVX3
  return IntVec{_mm512_cvtps_epi32(v.raw)};
#elif HWY_TARGET == HWY_AVX2
  return IntVec{_mm256_cvtps_epi32(v.raw)};
#elif HWY_TARGET == HWY_SSE4
  return IntVec{_mm_cvtps_epi32(v.raw)};
#else
  return hn::NearestInt(v);
#endif
}

// Scaled sums become the bytes of a result of the kinds kInt8 and kUInt8.
class ByteRounding {
 public:
  explicit HWY_INLINE ByteRounding(const ByteResult& r)
      : least_(Set(r.least)),
        most_(Set(r.most)),
        zero_(hn::Set(WordTag(), static_cast<int16_t>(r.zero + Shift(r)))),
        lowest_(hn::Set(ByteTag(), Lowest(r))),
        flip_(hn::Set(ByteTag(), static_cast<uint8_t>(Shift(r)))) {}

  // Within each 16 bytes, four of a, of b, of c and of d.
  HWY_INLINE ByteVec Pack(FloatVec a, FloatVec b, FloatVec c, FloatVec d) const {
    return hn::Xor(hn::Max(PackWords(Words(a, b), Words(c, d)), lowest_), flip_);
  }

 private:
  // i8 are rounded as u8.
  static HWY_INLINE int Shift(const ByteResult& r) { return r.kind == ResultKind::kInt8 ? 128 : 0; }

  static HWY_INLINE uint8_t Lowest(const ByteResult& r) {
    const int lowest = static_cast<int>(std::min(r.least, r.most)) + r.zero + Shift(r);
    return static_cast<uint8_t>(std::clamp(lowest, 0, 255));
  }

  // Saturates to words and then to bytes at either end, so what is too small needs no bound of its own.
  HWY_INLINE WordVec Words(FloatVec a, FloatVec b) const {
    return hn::SaturatedAdd(hn::ReorderDemote2To(WordTag(), Round(a), Round(b)), zero_);
  }
  // NaN is the least, as in ToSteps.
  HWY_INLINE IntVec Round(FloatVec v) const {
#if HWY_TARGET == HWY_NEON
    v = hn::Max(v, least_);
#endif
    return Nearest(Smaller(most_, v));
  }

  [[maybe_unused]] FloatVec least_;
  FloatVec most_;
  WordVec zero_;
  ByteVec lowest_;
  ByteVec flip_;
};

// Which four bytes of ByteRounding::Pack come where when those of each vector are to lie side by side.
struct BlockOrder {
  int32_t from[kLanes];
};
constexpr BlockOrder MakeBlockOrder() {
  constexpr int32_t kBlocks = static_cast<int32_t>(kLanes) / 4;
  BlockOrder order{};
  for (int32_t i = 0; i < kLanes; ++i) order.from[i] = 4 * (i % kBlocks) + i / kBlocks;
  return order;
}
HWY_INLINE ByteVec InOrder(ByteVec packed) {
  static constexpr BlockOrder kOrder = MakeBlockOrder();
  const IntTag tag;
  return hn::BitCast(ByteTag(), hn::TableLookupLanes(hn::BitCast(tag, packed), hn::SetTableIndices(tag, kOrder.from)));
}

// What sums of NV vectors of columns from `col` on begin with.
template <int NV>
HWY_INLINE void LoadOffsets(const ByteResult& r, int64_t col, IntVec (&offsets)[NV]) {
  WHERRY_UNROLL
  for (int j = 0; j < NV; ++j) offsets[j] = hn::LoadU(IntTag(), r.offsets + col + j * kLanes);
}

// `live` floats, or what has their size, of each row from column `col` on.
template <int MR, int NV>
HWY_INLINE void StoreLanes(const ByteResult& r, const FloatVec (&lanes)[MR][NV], int64_t row, int64_t col,
                           int64_t live) {
  WHERRY_UNROLL
  for (int i = 0; i < MR; ++i) {
    float* const to = static_cast<float*>(r.data) + (row + i) * r.stride + col;
    WHERRY_UNROLL
    for (int j = 0; j < NV; ++j) {
      StoreN(lanes[i][j], to + j * kLanes, std::clamp<int64_t>(live - j * kLanes, 0, kLanes));
    }
  }
}

// `live` sums, which began with the offsets, of each row from column `col` on. row_sums: of the rows' factors; nullptr
// where there can be no weight_zeros, whose code then is left out.
template <int MR, int NV>
HWY_INLINE void StoreSums(const ByteResult& r, IntVec (&sums)[MR][NV], const int32_t* row_sums, int64_t row,
                          int64_t col, int64_t live) {
  const IntTag tag;
  if (r.weight_zeros != nullptr && row_sums != nullptr) {
    WHERRY_UNROLL
    for (int j = 0; j < NV; ++j) {
      const IntVec zeros = hn::LoadU(tag, r.weight_zeros + col + j * kLanes);
      WHERRY_UNROLL
      for (int i = 0; i < MR; ++i) sums[i][j] = hn::Sub(sums[i][j], hn::Mul(zeros, hn::Set(tag, row_sums[i])));
    }
  }
  FloatVec lanes[MR][NV];
  if (r.kind == ResultKind::kInt32) {
    WHERRY_UNROLL
    for (int j = 0; j < NV; ++j) {
      WHERRY_UNROLL
      for (int i = 0; i < MR; ++i) lanes[i][j] = hn::BitCast(FloatTag(), sums[i][j]);
    }
    return StoreLanes(r, lanes, row, col, live);
  }
  WHERRY_UNROLL
  for (int j = 0; j < NV; ++j) {
    const FloatVec scale = Load(r.scales + col + j * kLanes);
    WHERRY_UNROLL
    for (int i = 0; i < MR; ++i) lanes[i][j] = hn::Mul(hn::ConvertTo(FloatTag(), sums[i][j]), scale);
  }
  if (r.kind == ResultKind::kFloat) return StoreLanes(r, lanes, row, col, live);
  const ByteRounding rounding(r);
  uint8_t* const to = static_cast<uint8_t*>(r.data) + row * r.stride + col;
  live = std::min<int64_t>(live, NV * kLanes);
  if constexpr (NV == 4) {
    WHERRY_UNROLL
    for (int i = 0; i < MR; ++i) {
      StoreFirstBytes(ByteTag(), InOrder(rounding.Pack(lanes[i][0], lanes[i][1], lanes[i][2], lanes[i][3])),
                      to + i * r.stride, live);
    }
  } else {
    // Two rows to a vector.
    const hn::Half<ByteTag> half;
    WHERRY_UNROLL
    for (int i = 0; i < MR; i += 2) {
      const int next = std::min(i + 1, MR - 1);
      const ByteVec bytes = InOrder(rounding.Pack(lanes[i][0], lanes[i][NV - 1], lanes[next][0], lanes[next][NV - 1]));
      StoreFirstBytes(half, hn::LowerHalf(half, bytes), to + i * r.stride, live);
      if (next > i) StoreFirstBytes(half, hn::UpperHalf(half, bytes), to + next * r.stride, live);
    }
  }
}

}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
