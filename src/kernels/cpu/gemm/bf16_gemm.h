// C = epilogue(A B^T) in f32 of rows and weights of bf16, which are packed as in word_gemm.h. Products are exact, sums
// f32 (where the processor multiplies bf16, in its order and rounding, and denormals are zeros).
//
// Thread-safe, allocates nothing and assumes no alignment. Results do not depend on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/cpu/tile_epilogue.h"
#include "wherry/types.h"

namespace wherry::cpu {

// What multiplies, from the fastest.
enum class Bf16Method : uint8_t {
  kTiles,  // AMX
  kDots,   // AVX512-BF16: two products a lane
  kWords,  // none of them: rows become f32 and weights in registers
};
// The first that the active instruction set has; of few rows, which the reading of the weights decides, kDots at best.
Bf16Method PickBf16Method(int64_t rows);

struct Bf16Gemm {
  const BFloat16* a = nullptr;      // [m, k]
  const uint32_t* words = nullptr;  // PackWords
  int64_t row_words = 0;            // of a row; hold k values or more
  float* c = nullptr;               // [m, n]
  int64_t m = 0, n = 0, k = 0;
  const TileEpilogue* epilogue = nullptr;
};

// Of RunBf16Gemm with a pool of so many threads.
size_t Bf16ScratchBytes(const Bf16Gemm& call, Bf16Method method, int threads);
// c overlaps nothing else; an added operand of the epilogue may be c itself. A null pool means: on the caller alone.
void RunBf16Gemm(const Bf16Gemm& call, Bf16Method method, void* scratch, ThreadPool* pool);

}  // namespace wherry::cpu
