#include "kernels/cpu/gemm/word_gemm.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/gemm/cut.h"
#include "kernels/cpu/gemm/gemm_call.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gemm/word_gemm.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/gemm/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

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

using ByteTag = hn::Repartition<uint8_t, IntTag>;

// Byte kByte of each lane as its top byte; zeros below.
template <int kByte>
HWY_INLINE IntVec TopByte(IntVec v) {
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

// acc += the values from I on of NV vectors of words times those of a, whose rows are a_stride floats apart.
template <class Form, int I, int MR, int NV>
HWY_INLINE void AddProducts(const float* a, int64_t a_stride, const Values<Form>* values, FloatVec (*acc)[MR]) {
  FloatVec value[NV];
  WHERRY_UNROLL
  for (int j = 0; j < NV; ++j) value[j] = values[j].template At<I>();
  WHERRY_UNROLL
  for (int r = 0; r < MR; ++r) {
    const FloatVec av = Set(a[r * a_stride + I]);
    WHERRY_UNROLL
    for (int j = 0; j < NV; ++j) acc[j][r] = hn::MulAdd(av, value[j], acc[j][r]);
  }
  if constexpr (I + 1 < Form::kValues) AddProducts<Form, I + 1, MR, NV>(a, a_stride, values, acc);
}

// The same for all values of a word.
template <class Form, int MR, int NV>
HWY_INLINE void AddWord(const float* a, int64_t a_stride, const int32_t* words, const float* zeros,
                        FloatVec (*acc)[MR]) {
  // Few rows go through vector by vector, one of words in registers; more rows share what is read of a.
  constexpr int kTogether = MR <= 2 ? 1 : NV;
  WHERRY_UNROLL
  for (int j = 0; j < NV; j += kTogether) {
    Values<Form> values[kTogether];
    WHERRY_UNROLL
    for (int i = 0; i < kTogether; ++i) {
      values[i] = Values<Form>(words + (j + i) * kLanes, zeros + (j + i) * kLanes);
    }
    AddProducts<Form, 0, MR, kTogether>(a, a_stride, values, acc + j);
  }
}

// Rows [row0, row0 + MR) by NV vectors of columns from `at` on in a panel. Sums of a group are kept in registers, those
// of all groups go through L1 at the end of each.
template <class Form, int MR, int NV>
HWY_NOINLINE void WordTile(const WordGemm& call, int64_t row0, int64_t panel, int64_t at) {
  FloatVec total[MR][NV];
  WHERRY_UNROLL
  for (int r = 0; r < MR; ++r) {
    WHERRY_UNROLL
    for (int j = 0; j < NV; ++j) total[r][j] = Zero();
  }
  HWY_ALIGN float zeros[NV * kLanes] = {};
  const auto* words = reinterpret_cast<const int32_t*>(call.words) + panel * call.row_words * kPanelWidth + at;
  for (int64_t group = 0; group < call.groups; ++group) {
    const int64_t place = (panel * call.groups + group) * kPanelWidth + at;
    if constexpr (Form::kHasZeros) {
      for (int64_t j = 0; j < NV * kLanes; ++j) zeros[j] = static_cast<float>(call.zeros[place + j]) * Form::kFactor;
    }
    FloatVec acc[NV][MR];
    WHERRY_UNROLL
    for (int j = 0; j < NV; ++j) {
      WHERRY_UNROLL
      for (int r = 0; r < MR; ++r) acc[j][r] = Zero();
    }
    const int64_t begin = group * call.group_size;
    const float* a = call.a + row0 * call.a_stride + begin;
    int64_t left = call.groups == 1 ? call.k : std::min(call.group_size, call.k - begin);
    for (; left >= Form::kValues; left -= Form::kValues) {
      AddWord<Form, MR, NV>(a, call.a_stride, words, zeros, acc);
      a += Form::kValues;
      words += kPanelWidth;
    }
    if (left > 0) {  // the last word is not full
      float last[MR * Form::kValues] = {};
      for (int r = 0; r < MR; ++r) {
        std::memcpy(last + r * Form::kValues, a + r * call.a_stride, static_cast<size_t>(left) * sizeof(float));
      }
      AddWord<Form, MR, NV>(last, Form::kValues, words, zeros, acc);
    }
    WHERRY_UNROLL
    for (int j = 0; j < NV; ++j) {
      const FloatVec scale =
          Form::kBits == 16 ? Set(1.0F) : hn::Mul(Load(call.scales + place + j * kLanes), Set(1.0F / Form::kFactor));
      WHERRY_UNROLL
      for (int r = 0; r < MR; ++r) total[r][j] = hn::MulAdd(acc[j][r], scale, total[r][j]);
    }
  }
  const int64_t col = panel * kPanelWidth + at;
  StoreTile(total, *call.epilogue, StridedRows{call.c, call.c_stride, row0, 0}, col,
            std::min<int64_t>(NV * kLanes, call.n - col));
}

template <class Form, int MR>
HWY_INLINE void WordRows(const WordGemm& call, int64_t row0, int64_t panel_begin, int64_t panel_end) {
  constexpr int kVectors = TileVectors(MR);
  for (int64_t panel = panel_begin; panel < panel_end; ++panel) {
    const int64_t cols = std::min(call.n - panel * kPanelWidth, kPanelWidth);
    for (int64_t at = 0; at < cols; at += kVectors * kLanes) WordTile<Form, MR, kVectors>(call, row0, panel, at);
  }
}

// Panels inner, as in GemmBlock.
template <class Form>
void WordBlockOf(const WordGemm& call, const RowTiles& tiles, int64_t tile_begin, int64_t tile_end, int64_t panel_begin,
                 int64_t panel_end) {
  for (int64_t t = tile_begin; t < tile_end; ++t) {
    const int64_t row0 = tiles.Begin(t);
    switch (tiles.Begin(t + 1) - row0) {
      case 1: WordRows<Form, 1>(call, row0, panel_begin, panel_end); break;
      case 2: WordRows<Form, 2>(call, row0, panel_begin, panel_end); break;
      case 3: WordRows<Form, 3>(call, row0, panel_begin, panel_end); break;
      case 4: WordRows<Form, 4>(call, row0, panel_begin, panel_end); break;
      case 5: WordRows<Form, 5>(call, row0, panel_begin, panel_end); break;
      case 6: WordRows<Form, 6>(call, row0, panel_begin, panel_end); break;
    }
  }
}

void WordBlock(const WordGemm& call, const RowTiles& tiles, int64_t tile_begin, int64_t tile_end, int64_t panel_begin,
               int64_t panel_end) {
  const auto block = call.bits == 16                           ? &WordBlockOf<WordForm<16, false>>
                     : call.zeros == nullptr && call.bits == 8 ? &WordBlockOf<WordForm<8, false>>
                     : call.bits == 8                          ? &WordBlockOf<WordForm<8, true>>
                     : call.zeros == nullptr                   ? &WordBlockOf<WordForm<4, false>>
                                                               : &WordBlockOf<WordForm<4, true>>;
  block(call, tiles, tile_begin, tile_end, panel_begin, panel_end);
}

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {
namespace {

constexpr int64_t kWordBytes = sizeof(uint32_t);

int64_t PanelsOf(int64_t n) { return (n + kPanelWidth - 1) / kPanelWidth; }
int64_t RowWords(int64_t row_bytes) { return (row_bytes + kWordBytes - 1) / kWordBytes; }

}  // namespace

int64_t PackedWords(int64_t row_bytes, int64_t n) { return PanelsOf(n) * kPanelWidth * RowWords(row_bytes); }

void PackWords(const void* rows, int64_t row_bytes, int64_t n, uint32_t flip, uint32_t* packed) {
  const auto* const from = static_cast<const char*>(rows);
  const int64_t row_words = RowWords(row_bytes);
  // Blocks of 16 words read a cache line of each row, and write 16 lines of 256 bytes.
  constexpr int64_t kBlock = 16;
  for (int64_t panel = 0; panel < PanelsOf(n); ++panel, packed += row_words * kPanelWidth) {
    for (int64_t word0 = 0; word0 < row_words; word0 += kBlock) {
      const int64_t word1 = std::min(row_words, word0 + kBlock);
      for (int64_t column = 0; column < kPanelWidth; ++column) {
        const int64_t row = panel * kPanelWidth + column;
        for (int64_t word = word0; word < word1; ++word) {
          uint32_t value = 0;
          if (row < n) {
            const int64_t bytes = std::min(kWordBytes, row_bytes - word * kWordBytes);
            std::memcpy(&value, from + row * row_bytes + word * kWordBytes, static_cast<size_t>(bytes));
          }
          packed[word * kPanelWidth + column] = value ^ flip;
        }
      }
    }
  }
}

void RunWordGemm(const WordGemm& call, ThreadPool* pool) {
  if (call.m == 0 || call.n == 0) return;
  const auto block = WHERRY_ISA_CALL(WordBlock);
  const RowTiles tiles(call.m);
  const int64_t panels = PanelsOf(call.n);
  const int64_t bytes = panels * kPanelWidth * call.row_words * kWordBytes;
  const int threads = pool == nullptr ? 1 : pool->threads();
  RunCut(CutGemm(call.m, tiles.count, panels, call.k, bytes, threads), tiles.count, panels, pool,
         [&](int64_t tile_begin, int64_t tile_end, int64_t panel_begin, int64_t panel_end) {
           block(call, tiles, tile_begin, tile_end, panel_begin, panel_end);
         });
}

}  // namespace wherry::cpu
#endif  // HWY_ONCE
