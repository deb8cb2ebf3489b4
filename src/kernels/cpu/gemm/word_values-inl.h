// Values out of words of 32 bits. Per-instruction-set header: the guard toggles.
#if defined(WHERRY_KERNELS_CPU_GEMM_WORD_VALUES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WHERRY_KERNELS_CPU_GEMM_WORD_VALUES_INL_H_
#undef WHERRY_KERNELS_CPU_GEMM_WORD_VALUES_INL_H_
#else
#define WHERRY_KERNELS_CPU_GEMM_WORD_VALUES_INL_H_
#endif

#include "kernels/cpu/gemm/word_gemm.h"
#include "kernels/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {

// What is in words: values of kBits each, less a zero point per column where there are some.
template <int kBitsOfValue, bool kWithZeros>
struct WordForm {
  static constexpr int kBits = kBitsOfValue;
  static constexpr bool kHasZeros = kWithZeros;
  static constexpr int kValues = WordValues(kBits);
  // Integers become floats from the top bits of a lane with zeros below: bringing them there is one instruction, signed
  // at the bottom two. So they are so many times too large, which is taken off the scale.
  static constexpr float kFactor = kBits == 16 ? 1.0F : static_cast<float>(int64_t{1} << (32 - kBits));
};

// Calls body.template Run<Form>() for what a call's words hold.
template <class Body>
HWY_INLINE void WithWordForm(const WordGemm& call, const Body& body) {
  if (call.bits == 16) return body.template Run<WordForm<16, false>>();
  if (call.bits == 8) {
    return call.zeros == nullptr ? body.template Run<WordForm<8, false>>() : body.template Run<WordForm<8, true>>();
  }
  return call.zeros == nullptr ? body.template Run<WordForm<4, false>>() : body.template Run<WordForm<4, true>>();
}

// Byte kByte of each lane as its top byte; zeros below.
template <int kByte>
HWY_INLINE IntVec TopByte(IntVec v) {
  using ByteTag = hn::Repartition<uint8_t, IntTag>;
  constexpr uint8_t kNone = 0x80;
  constexpr auto kAt = static_cast<uint8_t>(kByte);
  HWY_ALIGN static constexpr uint8_t kFrom[16] = {kNone, kNone, kNone, kAt,     kNone, kNone, kNone, kAt + 4,
                                                  kNone, kNone, kNone, kAt + 8, kNone, kNone, kNone, kAt + 12};
  const auto bytes = hn::BitCast(ByteTag(), v);
  return hn::BitCast(IntTag(), hn::TableLookupBytesOr0(bytes, hn::LoadDup128(ByteTag(), kFrom)));
}

// A vector of words as floats. `zeros`, of the columns, are kFactor times too large as well.
template <class Form>
class Values {
 public:
  Values() = default;
  HWY_INLINE Values(const int32_t* words, const float* zeros) : zeros_(zeros) {
    upper_ = lower_ = hn::LoadU(IntTag(), words);
    if constexpr (Form::kBits == 4) {
      const IntVec mask = hn::Set(IntTag(), static_cast<int32_t>(0xF0F0F0F0));
      lower_ = hn::And(hn::ShiftLeft<4>(lower_), mask);
      upper_ = hn::And(upper_, mask);
    }
  }

  // The value number I of each word.
  template <int I>
  HWY_INLINE FloatVec At() const {
    if constexpr (Form::kBits == 16) {
      if constexpr (I == 0) return hn::BitCast(FloatTag(), hn::ShiftLeft<16>(lower_));
      return hn::BitCast(FloatTag(), hn::And(upper_, hn::Set(IntTag(), static_cast<int32_t>(0xFFFF0000))));
    } else {
      constexpr int kByte = I * Form::kBits / 8;
      const FloatVec value = hn::ConvertTo(FloatTag(), TopByte<kByte>(I * Form::kBits % 8 == 0 ? lower_ : upper_));
      if constexpr (!Form::kHasZeros) return value;
      return hn::Sub(value, hn::Load(FloatTag(), zeros_));
    }
  }

 private:
  IntVec lower_;  // words with values in the lower halves of their bytes, brought to the upper ones
  IntVec upper_;
  const float* zeros_;
};

// The zero points from `place` on, kFactor times too large, as Values wants them. `zeros` may be null where a form has
// none.
template <class Form>
HWY_INLINE void LoadZeros(const int16_t* zeros, int64_t place, int64_t count, float* scaled) {
  if constexpr (Form::kHasZeros) {
    for (int64_t j = 0; j < count; ++j) scaled[j] = static_cast<float>(zeros[place + j]) * Form::kFactor;
  }
}

}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
