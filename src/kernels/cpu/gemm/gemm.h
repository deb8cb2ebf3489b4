// Single-precision matrix multiplication: C = epilogue(A B).
//
// Weights are packed once (PackB) into panels of 64 columns, [ceil(N / 64)][K][64] with zeros behind column N. The
// format is the same on every instruction set, so packed weights can be stored and moved between machines.
//
// All functions here are thread-safe, allocate nothing, assume no alignment, and read and write no float outside the
// matrices. A null pool means: on the caller alone. Results do not depend on the number of threads.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/cpu/tile_epilogue.h"

namespace wherry::cpu {

inline constexpr int64_t kPanelWidth = 64;

// A read-only matrix: element (i, j) is at data[i * row_stride + j * col_stride]. A transposed matrix swaps the
// strides.
struct MatrixView {
  const float* data = nullptr;
  int64_t row_stride = 0;
  int64_t col_stride = 1;
};

// Floats in the packed form of a k x n matrix.
int64_t PackedFloats(int64_t k, int64_t n);

// `packed` holds PackedFloats(k, n) floats.
void PackB(const MatrixView& b, int64_t k, int64_t n, float* packed, ThreadPool* pool);

// c is m x n with rows c_stride floats apart; a is m x k; the weights are k x n. Zero sizes are fine: k = 0 stores the
// epilogue of zeros. c overlaps neither a nor the weights; an added operand of the epilogue may be c itself.
void GemmPacked(const MatrixView& a, const float* packed_b, float* c, int64_t c_stride, int64_t m, int64_t n, int64_t k,
                const TileEpilogue& epilogue, ThreadPool* pool);

// `batch` products with unpacked right-hand sides, as in attention and eager matmul. The strides are floats from one
// product's matrix to the next; 0 shares the matrix (a shared b is packed once). The epilogue's rows are numbered
// through the batch: product i has rows epilogue_row0 + [i * m, (i + 1) * m).
struct BatchedGemm {
  int64_t batch = 1;
  int64_t m = 0, n = 0, k = 0;
  MatrixView a;
  int64_t a_batch_stride = 0;
  MatrixView b;
  int64_t b_batch_stride = 0;
  const float* packed_b = nullptr;  // if not null, the packed b of all products; b is not looked at
  float* c = nullptr;
  int64_t c_stride = 0;
  int64_t c_batch_stride = 0;
  int64_t epilogue_row0 = 0;  // the number of the first row in the epilogue
};

// Floats of scratch that Run below needs; 0 if it needs none. `threads` is that of the pool (1 for none).
int64_t BatchedGemmScratchFloats(const BatchedGemm& gemm, int threads);

void RunBatchedGemm(const BatchedGemm& gemm, const TileEpilogue& epilogue, float* scratch, ThreadPool* pool);

}  // namespace wherry::cpu
