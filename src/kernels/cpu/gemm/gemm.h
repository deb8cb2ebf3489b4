// Single-precision matrix multiplication: C = epilogue(A B).
//
// Weights are packed once (PackB) into panels of 64 columns with zeros behind column N, in one of two layouts.
//
// All functions here are thread-safe, allocate nothing, assume no alignment, and read and write no float outside the
// matrices. A null pool means: on the caller alone. Results do not depend on the number of threads.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/cpu/tile_epilogue.h"

namespace wherry::cpu {

inline constexpr int64_t kPanelWidth = 64;
inline constexpr int64_t PanelsOf(int64_t n) { return (n + kPanelWidth - 1) / kPanelWidth; }
// Columns that lie side by side in every layout: one AVX-512 vector, two of AVX2, four of SSE4 and NEON.
inline constexpr int64_t kPanelStep = 16;

// How a panel of K rows lies in memory.
enum class PanelLayout : uint8_t {
  kRows,    // [K][64]: for AVX-512, whose tile is as wide as a panel
  kGroups,  // [4][K][16]: for tiles of 16 columns. From rows of 64 they would take one line in four: on a Zen 3 with
            // 32 KB of L1, products ran at 57 of 105 GFLOP/s with K = 1536 and at 80 with K = 384; so at 92 and 88.
};

// That of weights for the instruction set that is active on this thread. Packed weights that are stored say which it
// is in the name of their format.
PanelLayout WeightLayout();
// "64" and "16", for such names.
const char* LayoutName(PanelLayout layout);

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
void PackB(const MatrixView& b, int64_t k, int64_t n, float* packed, ThreadPool* pool,
           PanelLayout layout = PanelLayout::kRows);

// c is m x n with rows c_stride floats apart; a is m x k; the weights are k x n. Zero sizes are fine: k = 0 stores the
// epilogue of zeros. c overlaps neither a nor the weights; an added operand of the epilogue may be c itself.
void GemmPacked(const MatrixView& a, const float* packed_b, float* c, int64_t c_stride, int64_t m, int64_t n, int64_t k,
                const TileEpilogue& epilogue, ThreadPool* pool, PanelLayout layout = PanelLayout::kRows);

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
  PanelLayout packed_layout = PanelLayout::kRows;
  float* c = nullptr;
  int64_t c_stride = 0;
  int64_t c_batch_stride = 0;
  int64_t epilogue_row0 = 0;  // the number of the first row in the epilogue
};

// Floats of scratch that Run below needs; 0 if it needs none. `threads` is that of the pool (1 for none).
int64_t BatchedGemmScratchFloats(const BatchedGemm& gemm, int threads);

void RunBatchedGemm(const BatchedGemm& gemm, const TileEpilogue& epilogue, float* scratch, ThreadPool* pool);

}  // namespace wherry::cpu
