// C = epilogue(A B^T) in f32 with weights that are stored in 16, 8 or 4 bits: read as they are, converted in registers.
//
// A word is 32 bits of a weight's row: 2 bf16, 4 integers of 8 bits or 8 of 4 bits, the first in the low bits. Packed
// they lie in panels of 64 rows (the result's columns), [ceil(N / 64)][words of a row][64], so that a vector holds one
// word each of neighbouring columns. The format is the same on every instruction set. Integers are signed there.
//
// f16 becomes f32 by an instruction that takes halves which lie side by side. So the two of a word lie in two rows of a
// panel, [ceil(N / 64)][words of a row][2][64]: as many bytes, in another order (PackHalves).
//
// An integer q stands for (q - zero) scale, with a scale and a zero point for each group of `group_size` integers of a
// row. They lie in panels too, [ceil(N / 64)][groups][64]. Of few rows the sums of a group are up to 2^24 times too
// large before they are scaled: a row's magnitudes are to add up to less than 2^96.
//
// All functions here are thread-safe, allocate nothing and assume no alignment of what is not packed. Results do not
// depend on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/cpu/gemm/gemm.h"

namespace wherry::cpu {

enum class WordType : uint8_t { kInt4, kInt8, kBFloat16, kFloat16 };

inline constexpr int WordBits(WordType type) { return type == WordType::kInt4 ? 4 : type == WordType::kInt8 ? 8 : 16; }
inline constexpr int WordValues(WordType type) { return 32 / WordBits(type); }

// Words of a packed weight whose n rows are row_bytes long.
int64_t PackedWords(int64_t row_bytes, int64_t n);
// Of the row-major `rows`, each xor `flip`: 0x80808080 makes signed bytes of unsigned less 128. Not for f16.
void PackWords(const void* rows, int64_t row_bytes, int64_t n, uint32_t flip, uint32_t* packed);
// Of the row-major f16 `rows` [n, k]: PackedWords(2 k, n) words.
void PackHalves(const uint16_t* rows, int64_t k, int64_t n, uint16_t* packed);

struct WordGemm {
  const float* a = nullptr;
  int64_t a_stride = 0;             // floats from one row to the next
  const uint32_t* words = nullptr;  // PackWords; of f16 PackHalves
  int64_t row_words = 0;            // of a row; hold k values or more
  WordType type = WordType::kInt8;
  const float* scales = nullptr;   // in panels; of integers only
  const int16_t* zeros = nullptr;  // in panels; null: 0. None for bf16 and f16
  int64_t groups = 1;
  int64_t group_size = 0;  // a multiple of WordValues(type), unless there is one group
  float* c = nullptr;
  int64_t c_stride = 0;
  int64_t m = 0, n = 0, k = 0;
  const TileEpilogue* epilogue = nullptr;
};

// Of RunWordGemm with a pool of so many threads: of many rows a panel as floats for each.
size_t WordGemmScratchBytes(const WordGemm& call, int threads);
// c overlaps nothing else; an added operand of the epilogue may be c itself. A null pool means: on the caller alone.
void RunWordGemm(const WordGemm& call, void* scratch, ThreadPool* pool);

}  // namespace wherry::cpu
