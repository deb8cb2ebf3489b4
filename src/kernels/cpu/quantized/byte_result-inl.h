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

// Scaled sums become the bytes of a result of the kinds kInt8 and kUInt8.
class ByteRounding {
 public:
  explicit HWY_INLINE ByteRounding(const ByteResult& r)
      : least_(Set(r.least)),
        most_(Set(r.most)),
        rest_(hn::Set(IntTag(), kRounderBits - r.zero - (r.kind == ResultKind::kInt8 ? 128 : 0))),
        flip_(hn::Set(ByteTag(), r.kind == ResultKind::kInt8 ? 0x80 : 0)) {}

  // Within each 16 bytes, four of a, of b, of c and of d.
  HWY_INLINE ByteVec Pack(FloatVec a, FloatVec b, FloatVec c, FloatVec d) const {
    const WordTag words;
    return hn::Xor(
        PackWords(hn::ReorderDemote2To(words, Round(a), Round(b)), hn::ReorderDemote2To(words, Round(c), Round(d))),
        flip_);
  }

 private:
  // A float so large that the last bit of its sum with a small one is 1: adding rounds, ties to even, and the bits are
  // those of this one plus the whole number.
  static constexpr float kRounder = 12582912.0F;  // 1.5 * 2^23
  static constexpr int32_t kRounderBits = 0x4B400000;

  // NaN is the least, as in ToSteps.
  HWY_INLINE IntVec Round(FloatVec v) const {
    const FloatVec within = hn::Min(hn::Max(v, least_), most_);
    return hn::Sub(hn::BitCast(IntTag(), hn::Add(within, Set(kRounder))), rest_);
  }

  FloatVec least_;
  FloatVec most_;
  IntVec rest_;
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

// `live` sums of a row from column `col` on. row_sum: of the row's factors; not looked at without weight_zeros.
template <int NV>
HWY_INLINE void StoreSums(const ByteResult& r, const IntVec (&sums)[NV], int32_t row_sum, int64_t row, int64_t col,
                          int64_t live) {
  const IntTag tag;
  IntVec v[NV];
  WHERRY_UNROLL
  for (int j = 0; j < NV; ++j) v[j] = hn::Add(sums[j], hn::LoadU(tag, r.offsets + col + j * kLanes));
  if (r.weight_zeros != nullptr) {
    const IntVec factor = hn::Set(tag, row_sum);
    WHERRY_UNROLL
    for (int j = 0; j < NV; ++j) {
      v[j] = hn::Sub(v[j], hn::Mul(hn::LoadU(tag, r.weight_zeros + col + j * kLanes), factor));
    }
  }
  const int64_t at = row * r.stride + col;
  if (r.kind == ResultKind::kInt32) {
    WHERRY_UNROLL
    for (int j = 0; j < NV; ++j) {
      const int64_t rest = std::clamp<int64_t>(live - j * kLanes, 0, kLanes);
      StoreN(hn::BitCast(FloatTag(), v[j]), static_cast<float*>(r.data) + at + j * kLanes, rest);
    }
    return;
  }
  FloatVec scaled[NV];
  WHERRY_UNROLL
  for (int j = 0; j < NV; ++j) {
    scaled[j] = hn::Mul(hn::ConvertTo(FloatTag(), v[j]), Load(r.scales + col + j * kLanes));
  }
  if (r.kind == ResultKind::kFloat) {
    WHERRY_UNROLL
    for (int j = 0; j < NV; ++j) {
      const int64_t rest = std::clamp<int64_t>(live - j * kLanes, 0, kLanes);
      StoreN(scaled[j], static_cast<float*>(r.data) + at + j * kLanes, rest);
    }
    return;
  }
  const ByteVec bytes = ByteRounding(r).Pack(scaled[0], scaled[1 % NV], scaled[2 % NV], scaled[3 % NV]);
  StoreFirstBytes(ByteTag(), InOrder(bytes), static_cast<uint8_t*>(r.data) + at, std::min<int64_t>(live, NV * kLanes));
}

}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
