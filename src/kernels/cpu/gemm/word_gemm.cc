#include "kernels/cpu/gemm/word_gemm.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/gemm/cut.h"
#include "kernels/cpu/gemm/gemm_call.h"
#include "kernels/cpu/gemm/run_gemm.h"
#include "kernels/cpu/share_out.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gemm/word_gemm.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/gemm/tile-inl.h"
#include "kernels/cpu/gemm/word_values-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

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
      values[i] = Values<Form>(words + (j + i) * kLanes / Form::kColumns, zeros + (j + i) * kLanes);
    }
    AddProducts<Form, 0, MR, kTogether>(a, a_stride, values, acc + j);
  }
}

// The first words of the columns from `at` on in a panel.
template <class Form>
HWY_INLINE const int32_t* WordsAt(const WordGemm& call, int64_t panel, int64_t at) {
  return reinterpret_cast<const int32_t*>(call.words) + panel * call.row_words * kPanelWidth + at / Form::kColumns;
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
  const int32_t* words = WordsAt<Form>(call, panel, at);
  for (int64_t group = 0; group < call.groups; ++group) {
    const int64_t place = (panel * call.groups + group) * kPanelWidth + at;
    LoadZeros<Form>(call.zeros, place, NV * kLanes, zeros);
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
          Form::kIsFloat ? Set(1.0F) : hn::Mul(Load(call.scales + place + j * kLanes), Set(1.0F / Form::kFactor));
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

// Values from I on of a word of each of kPanelStep columns, `at` on, as rows of floats; scaled by `scale`.
template <class Form, int I>
HWY_INLINE void StoreValues(const Values<Form>& values, FloatVec scale, int64_t row_stride, int64_t rows, float* to) {
  if (I >= rows) return;
  const FloatVec value = values.template At<I>();
  Store(Form::kIsFloat ? value : hn::Mul(value, scale), to + I * row_stride);
  if constexpr (I + 1 < Form::kValues) StoreValues<Form, I + 1>(values, scale, row_stride, rows, to);
}

// Panel `panel` as PackB makes one of floats.
template <class Form>
void ExpandPanelOf(const WordGemm& call, int64_t panel, float* to) {
  constexpr bool kIsRows = kWeightLayout == PanelLayout::kRows;
  constexpr int64_t kRowStride = kIsRows ? kPanelWidth : kPanelStep;
  for (int64_t at = 0; at < kPanelWidth; at += kLanes) {
    float* column = to + (kIsRows ? at : at / kPanelStep * kPanelStep * call.k + at % kPanelStep);
    const int32_t* words = WordsAt<Form>(call, panel, at);
    for (int64_t group = 0; group < call.groups; ++group) {
      const int64_t place = (panel * call.groups + group) * kPanelWidth + at;
      HWY_ALIGN float zeros[kLanes] = {};
      LoadZeros<Form>(call.zeros, place, kLanes, zeros);
      const FloatVec scale = Form::kIsFloat ? Set(1.0F) : hn::Mul(Load(call.scales + place), Set(1.0F / Form::kFactor));
      const int64_t begin = group * call.group_size;
      int64_t left = call.groups == 1 ? call.k : std::min(call.group_size, call.k - begin);
      for (; left > 0; left -= Form::kValues, words += kPanelWidth, column += Form::kValues * kRowStride) {
        StoreValues<Form, 0>(Values<Form>(words, zeros), scale, kRowStride, left, column);
      }
    }
  }
}

struct ExpandPanelBody {
  const WordGemm& call;
  int64_t panel;
  float* to;
  template <class Form>
  HWY_INLINE void Run() const {
    ExpandPanelOf<Form>(call, panel, to);
  }
};
void ExpandPanel(const WordGemm& call, int64_t panel, float* to) {
  WithWordForm(call, ExpandPanelBody{call, panel, to});
}

struct WordBlockBody {
  const WordGemm& call;
  const RowTiles& tiles;
  int64_t tile_begin, tile_end, panel_begin, panel_end;
  template <class Form>
  HWY_INLINE void Run() const {
    WordBlockOf<Form>(call, tiles, tile_begin, tile_end, panel_begin, panel_end);
  }
};
void WordBlock(const WordGemm& call, const RowTiles& tiles, int64_t tile_begin, int64_t tile_end, int64_t panel_begin,
               int64_t panel_end) {
  WithWordForm(call, WordBlockBody{call, tiles, tile_begin, tile_end, panel_begin, panel_end});
}

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {
namespace {

constexpr int64_t kWordBytes = sizeof(uint32_t);

int64_t RowWords(int64_t row_bytes) { return (row_bytes + kWordBytes - 1) / kWordBytes; }

// Panels of rows of T, each xor `flip`; zeros (flipped) where rows end before a word does, and below the n rows.
template <typename T>
void PackPanels(const void* rows, int64_t row_bytes, int64_t n, T flip, T* packed) {
  constexpr int64_t kSize = sizeof(T);
  const auto* const from = static_cast<const char*>(rows);
  const int64_t depth = RowWords(row_bytes) * (kWordBytes / kSize);
  // Blocks read a cache line of each row, and write a run of 64 for each of its elements.
  constexpr int64_t kBlock = 64 / kSize;
  for (int64_t panel = 0; panel < PanelsOf(n); ++panel, packed += depth * kPanelWidth) {
    for (int64_t begin = 0; begin < depth; begin += kBlock) {
      const int64_t end = std::min(depth, begin + kBlock);
      for (int64_t column = 0; column < kPanelWidth; ++column) {
        const int64_t row = panel * kPanelWidth + column;
        const int64_t bytes_of_row = row < n ? row_bytes : 0;
        for (int64_t i = begin; i < end; ++i) {
          T value = 0;
          const int64_t left = bytes_of_row - i * kSize;
          if (left >= kSize) {
            std::memcpy(&value, from + row * row_bytes + i * kSize, kSize);
          } else if (left > 0) {
            std::memcpy(&value, from + row * row_bytes + i * kSize, static_cast<size_t>(left));
          }
          packed[i * kPanelWidth + column] = value ^ flip;
        }
      }
    }
  }
}

}  // namespace

int64_t PackedWords(int64_t row_bytes, int64_t n) { return PanelsOf(n) * kPanelWidth * RowWords(row_bytes); }

void PackWords(const void* rows, int64_t row_bytes, int64_t n, uint32_t flip, uint32_t* packed) {
  PackPanels<uint32_t>(rows, row_bytes, n, flip, packed);
}

void PackHalves(const uint16_t* rows, int64_t k, int64_t n, uint16_t* packed) {
  PackPanels<uint16_t>(rows, k * static_cast<int64_t>(sizeof(uint16_t)), n, 0, packed);
}

namespace {

// From so many rows on a panel is made floats once for all of them, which takes as long as 4 to 8 rows' products; six
// rows at a time are converted for otherwise, and read columns 256 bytes apart (a quarter of the sets of L1).
constexpr int64_t kManyRows = 32;

// How many times a panel is made for parts of the rows, so that few panels occupy all threads.
int64_t RowBlocks(const WordGemm& call, int threads) {
  constexpr int64_t kItemsPerThread = 4;
  if (threads == 1) return 1;
  return std::clamp<int64_t>(threads * kItemsPerThread / PanelsOf(call.n), 1, call.m / kManyRows);
}

int64_t PanelWorkers(const WordGemm& call, int threads) {
  return std::min<int64_t>(PanelsOf(call.n) * RowBlocks(call, threads), threads);
}

void RunByPanels(const WordGemm& call, float* scratch, ThreadPool* pool) {
  const int threads = pool == nullptr ? 1 : pool->threads();
  const int64_t row_blocks = RowBlocks(call, threads);
  const Isa isa = ActiveIsa();
  const PanelLayout layout = WeightLayout();
  const auto expand = WHERRY_ISA_CALL(ExpandPanel);
  ShareOut(pool, PanelWorkers(call, threads), PanelsOf(call.n) * row_blocks, [&](int64_t worker, const auto& next) {
    float* const values = scratch + worker * call.k * kPanelWidth;
    for (int64_t item = next(); item >= 0; item = next()) {
      const int64_t panel = item / row_blocks;
      const int64_t row = item % row_blocks * call.m / row_blocks;
      const int64_t end = (item % row_blocks + 1) * call.m / row_blocks;
      expand(call, panel, values);
      RunGemmPanel({{call.a + row * call.a_stride, call.a_stride, 1},
                    Panels::OnePanel(values, call.k, call.n, layout),
                    call.c + row * call.c_stride,
                    call.c_stride,
                    end - row,
                    call.n,
                    call.k,
                    call.epilogue,
                    row},
                   panel, isa);
    }
  });
}

}  // namespace

size_t WordGemmScratchBytes(const WordGemm& call, int threads) {
  if (call.m < kManyRows || call.n == 0) return 0;
  return static_cast<size_t>(PanelWorkers(call, threads) * call.k * kPanelWidth) * sizeof(float);
}

void RunWordGemm(const WordGemm& call, void* scratch, ThreadPool* pool) {
  if (call.m == 0 || call.n == 0) return;
  if (call.m >= kManyRows && call.k > 0) return RunByPanels(call, static_cast<float*>(scratch), pool);
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
