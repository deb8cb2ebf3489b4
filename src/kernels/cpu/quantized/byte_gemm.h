// Products of integers of 8 bits, exact in i32: rows of u8 times packed columns of i8.
//
// Columns are packed in panels of 64 with zeros behind K (rounded up to 4) and N, in the layouts of gemm.h and two or
// four of the depth side by side: [K / 4][64][4], or [4][K / 4][16][4], or the same with 2; then the sum of each column
// (i32, N rounded up to 64). Weights of u8 are packed less 128.
//
// With VNNI four products and their sum are one instruction; without it two, of words, with the same sums. With AMX
// they are 16 x 16 sums of 64 products each, of columns in the layout for VNNI.
#pragma once

#include <cstdint>

#include "base/cpu_info.h"
#include "kernels/cpu/gemm/gemm.h"
#include "kernels/cpu/quantized/byte_result.h"

namespace wherry::cpu {

inline constexpr int64_t kBytePanel = 64;
inline constexpr int64_t PaddedDepth(int64_t k) { return (k + 3) / 4 * 4; }
inline constexpr int64_t PaddedBytes64(int64_t n) { return (n + 63) / 64 * 64; }

int64_t PackedByteSize(int64_t k, int64_t n);
// The sums of the columns of a packed matrix.
const int32_t* PackedColumnSums(const void* packed, int64_t k, int64_t n);

// Element (i, j) of a k x n matrix is at data[i * row_stride + j * col_stride], u8 if `is_unsigned`, else i8.
struct ByteMatrix {
  const void* data = nullptr;
  bool is_unsigned = false;
  int64_t row_stride = 0;
  int64_t col_stride = 1;
};
// Whether the processor multiplies four bytes at once on the vectors of this level.
bool HasByteDot(Isa isa);

// Whether it multiplies tiles of bytes (AMX) on that level.
bool HasByteTiles(Isa isa);

struct ByteLayout {
  PanelLayout panels;
  int depth;  // of it side by side: 4 for HasByteDot's instruction, 2 for words
};
// That for the active instruction set. Packed weights that are stored say which it is in the name of their format.
ByteLayout ActiveByteLayout();
// `packed`: PackedByteSize(k, n) bytes, aligned to 4.
void PackBytes(const ByteMatrix& b, int64_t k, int64_t n, void* packed, ByteLayout layout);

// Rows of u8 in segments that lie anywhere: segment s of row r, `depth` readable bytes, at segments[s * pitch + r]. The
// packed columns have the segments one after another.
struct ByteRows {
  const uint8_t* const* segments = nullptr;
  int64_t pitch = 0;
  int64_t segment_count = 0;
  int64_t depth = 0;  // a multiple of 4; what a segment is shorter meets zeros among the columns

  int64_t packed_depth() const { return segment_count * depth; }
};

// How rows are read: where they lie, or from scratch memory, once for all columns.
enum class ByteRowForm : uint8_t {
  kSegments,
  kWords,  // widened, for two products at once
  kTiles,  // in one piece, for AMX
};
// For packed columns of the layout on the instruction set; of few rows no tiles are made.
ByteRowForm PickRowForm(ByteLayout layout, Isa isa, int64_t rows);
// Scratch bytes from one row to the next. Rows of a multiple of 4 KB would all lie in the same sets of L1.
inline constexpr int64_t RowScratchBytes(ByteRowForm form, int64_t packed_depth) {
  return form == ByteRowForm::kSegments ? 0 : (packed_depth + 32) * (form == ByteRowForm::kWords ? 2 : 1);
}

// Rows times columns of panels [panel_begin, panel_end).
struct ByteGemmCall {
  ByteRows a;
  const int32_t* row_sums = nullptr;  // of each row; null without result.weight_zeros
  const void* packed = nullptr;
  ByteRowForm form = ByteRowForm::kSegments;  // one for the layout of `packed`, which has the instruction set's panels
  void* row_scratch = nullptr;                // RowScratchBytes for each row, aligned to 2
  int64_t rows = 0;
  int64_t n = 0;
  int64_t panel_begin = 0;
  int64_t panel_end = 0;
  int64_t row0 = 0;  // the result's row of the first
  ByteResult result;
};
// On the calling thread, by the bodies of `isa`.
void RunByteGemm(const ByteGemmCall& call, Isa isa);

}  // namespace wherry::cpu
