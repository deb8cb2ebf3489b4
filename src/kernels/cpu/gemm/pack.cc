#include <algorithm>
#include <cstring>

#include "kernels/cpu/gemm/gemm.h"
#include "kernels/cpu/simd/four_floats.h"

namespace wherry::cpu {
namespace {

// One panel: columns [col, col + cols) of b.
void PackPanel(const MatrixView& b, int64_t k, int64_t col, int64_t cols, PanelLayout layout, float* packed) {
  const int64_t row = layout == PanelLayout::kRows ? kPanelWidth : kPanelStep;
  const int64_t group = layout == PanelLayout::kRows ? kPanelStep : k * kPanelStep;
  const auto at = [&](int64_t i, int64_t j) { return packed + j / kPanelStep * group + i * row + j % kPanelStep; };
  if (cols < kPanelWidth) std::memset(packed, 0, static_cast<size_t>(k * kPanelWidth) * sizeof(float));
  const float* const source = b.data + col * b.col_stride;
  if (b.col_stride == 1) {
    const int64_t width = std::min(cols, row);  // that lie side by side
    for (int64_t i = 0; i < k; ++i) {
      for (int64_t j = 0; j < cols; j += width) {
        const size_t bytes = static_cast<size_t>(std::min(width, cols - j)) * sizeof(float);
        std::memcpy(at(i, j), source + i * b.row_stride + j, bytes);
      }
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
          Transpose4x4(source + j * b.col_stride + i, b.col_stride, at(i, j), row);
        }
      }
    }
    for (; j < cols; ++j) {
      const float* const column = source + j * b.col_stride;
      for (int64_t i = i0; i < i1; ++i) *at(i, j) = column[i * b.row_stride];
    }
  }
}

}  // namespace

int64_t PackedFloats(int64_t k, int64_t n) { return PanelsOf(n) * kPanelWidth * k; }

const char* LayoutName(PanelLayout layout) { return layout == PanelLayout::kRows ? "64" : "16"; }

void PackB(const MatrixView& b, int64_t k, int64_t n, float* packed, ThreadPool* pool, PanelLayout layout) {
  if (k == 0) return;
  const int64_t panels = PanelsOf(n);
  // About 64 KB a chunk: below, claiming costs more than packing.
  const int64_t grain = std::max<int64_t>(1, 256 / std::max<int64_t>(1, k));
  ParallelFor(pool, panels, grain, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const int64_t col = p * kPanelWidth;
      PackPanel(b, k, col, std::min(kPanelWidth, n - col), layout, packed + p * k * kPanelWidth);
    }
  });
}

}  // namespace wherry::cpu
