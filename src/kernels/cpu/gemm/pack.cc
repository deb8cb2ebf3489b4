#include <algorithm>
#include <cstring>

#include "kernels/cpu/gemm/gemm.h"
#include "kernels/cpu/simd/four_floats.h"

namespace wherry::cpu {
namespace {

// One panel: columns [col, col + cols) of b.
void PackPanel(const MatrixView& b, int64_t k, int64_t col, int64_t cols, float* packed) {
  if (cols < kPanelWidth) std::memset(packed, 0, static_cast<size_t>(k * kPanelWidth) * sizeof(float));
  const float* const source = b.data + col * b.col_stride;
  if (b.col_stride == 1) {
    for (int64_t i = 0; i < k; ++i) {
      std::memcpy(packed + i * kPanelWidth, source + i * b.row_stride, static_cast<size_t>(cols) * sizeof(float));
    }
    return;
  }
  // Columns are the contiguous direction: blocks of 16 rows read whole cache lines and write 16 x 256 bytes.
  constexpr int64_t kBlock = 16;
  for (int64_t i0 = 0; i0 < k; i0 += kBlock) {
    const int64_t i1 = std::min(k, i0 + kBlock);
    int64_t j = 0;
    if (b.row_stride == 1 && i1 - i0 == kBlock) {
      for (; j + 4 <= cols; j += 4) {
        for (int64_t i = i0; i < i1; i += 4) {
          Transpose4x4(source + j * b.col_stride + i, b.col_stride, packed + i * kPanelWidth + j, kPanelWidth);
        }
      }
    }
    for (; j < cols; ++j) {
      const float* const column = source + j * b.col_stride;
      for (int64_t i = i0; i < i1; ++i) packed[i * kPanelWidth + j] = column[i * b.row_stride];
    }
  }
}

}  // namespace

int64_t PackedFloats(int64_t k, int64_t n) { return (n + kPanelWidth - 1) / kPanelWidth * kPanelWidth * k; }

void PackB(const MatrixView& b, int64_t k, int64_t n, float* packed, ThreadPool* pool) {
  if (k == 0) return;
  const int64_t panels = (n + kPanelWidth - 1) / kPanelWidth;
  // About 64 KB a chunk: below, claiming costs more than packing.
  const int64_t grain = std::max<int64_t>(1, 256 / std::max<int64_t>(1, k));
  ParallelFor(pool, panels, grain, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const int64_t col = p * kPanelWidth;
      PackPanel(b, k, col, std::min(kPanelWidth, n - col), packed + p * k * kPanelWidth);
    }
  });
}

}  // namespace wherry::cpu
