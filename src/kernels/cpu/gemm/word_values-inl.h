// Values out of words of 32 bits. Per-instruction-set header: the guard toggles.
#if defined(WHERRY_KERNELS_CPU_GEMM_WORD_VALUES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WHERRY_KERNELS_CPU_GEMM_WORD_VALUES_INL_H_
#undef WHERRY_KERNELS_CPU_GEMM_WORD_VALUES_INL_H_
#else
#define WHERRY_KERNELS_CPU_GEMM_WORD_VALUES_INL_H_
#endif

#include "kernels/cpu/gemm/word_gemm.h"
#include "kernels/cpu/simd/half-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {

// What is in words: values of a type, less a zero point per column where there are some.
template <WordType kTypeOfValue, bool kWithZeros>
struct WordForm {
  static constexpr int kBits = WordBits(kTypeOfValue);
  static constexpr bool kIsFloat = kBits == 16;
  static constexpr bool kHasZeros = kWithZeros;
  static constexpr int kValues = WordValues(kTypeOfValue);
  // Columns that a word has a value of: the words of column `at` begin kColumns times less far into a panel.
  static constexpr int kColumns = kTypeOfValue == WordType::kFloat16 ? 2 : 1;
  // Integers become floats from the top bits of a lane with zeros below: bringing them there is one instruction, signed
  // at the bottom two. So they are so many times too large, which is taken off the scale.
  static constexpr float kFactor = kIsFloat ? 1.0F : static_cast<float>(int64_t{1} << (32 - kBits));
};
using HalfForm = WordForm<WordType::kFloat16, false>;

// Calls body.template Run<Form>() for what a call's words hold.
template <class Body>
HWY_INLINE void WithWordForm(const WordGemm& call, const Body& body) {
  const bool zeros = call.zeros != nullptr;
  switch (call.type) {
    case WordType::kInt4:
      return zeros ? body.template Run<WordForm<WordType::kInt4, true>>()
                   : body.template Run<WordForm<WordType::kInt4, false>>();
    case WordType::kInt8:
      return zeros ? body.template Run<WordForm<WordType::kInt8, true>>()
                   : body.template Run<WordForm<WordType::kInt8, false>>();
    case WordType::kBFloat16: return body.template Run<WordForm<WordType::kBFloat16, false>>();
    case WordType::kFloat16: return body.template Run<HalfForm>();
  }
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
    if constexpr (Form::kIsFloat) {
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

// The columns' values number 0 lie side by side, and a row of a panel behind them those number 1.
template <>
class Values<HalfForm> {
 public:
  Values() = default;
  HWY_INLINE Values(const int32_t* words, const float* /*zeros*/)
      : halves_(reinterpret_cast<const hwy::float16_t*>(words)) {}

  template <int I>
  HWY_INLINE FloatVec At() const {
    return LoadHalves(halves_ + I * kPanelWidth);
  }

 private:
  const hwy::float16_t* halves_;
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
