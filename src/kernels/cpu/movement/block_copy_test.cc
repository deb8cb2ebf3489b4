#include "kernels/cpu/movement/block_copy.h"

#include <gtest/gtest.h>

#include <vector>

namespace wherry::cpu {
namespace {

// Copies from a buffer that holds nothing but what the shape reads (a sanitizer sees a read beyond it) and checks every
// byte of the target, gaps and ends included.
void Check(const BlockShape& s, int64_t size) {
  SCOPED_TRACE(testing::Message() << s.rows << " x " << s.cols << " of " << size << " bytes from " << s.from_row << ", "
                                  << s.from_col << " to " << s.to_row);
  const int64_t row_span = s.from_row * (s.rows - 1);
  const int64_t col_span = s.from_col * (s.cols - 1);
  const int64_t first = -std::min<int64_t>(0, row_span) - std::min<int64_t>(0, col_span);
  std::vector<uint8_t> source(
      static_cast<size_t>((first + std::max<int64_t>(0, row_span) + std::max<int64_t>(0, col_span) + 1) * size));
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<uint8_t>(i * 7 % 251);
  std::vector<uint8_t> target(static_cast<size_t>((s.to_row * (s.rows - 1) + s.cols + 3) * size), 255);
  std::vector<uint8_t> want = target;
  for (int64_t r = 0; r < s.rows; ++r) {
    for (int64_t c = 0; c < s.cols; ++c) {
      for (int64_t b = 0; b < size; ++b) {
        want[static_cast<size_t>((r * s.to_row + c) * size + b)] =
            source[static_cast<size_t>((first + r * s.from_row + c * s.from_col) * size + b)];
      }
    }
  }
  BlockCopyOf(static_cast<size_t>(size))(s, source.data() + first * size, target.data());
  EXPECT_EQ(target, want);
}

TEST(BlockCopy, EveryShapeAndStride) {
  for (const int64_t size : {1, 2, 4, 8, 16}) {
    for (const int64_t rows : {1, 2, 3, 4, 5, 17}) {
      for (const int64_t cols : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 130}) {
        for (const int64_t gap : {0, 3}) {
          const int64_t to_row = cols + gap;
          Check({rows, cols, cols, 1, to_row}, size);      // rows side by side
          Check({rows, cols, cols + 5, 1, to_row}, size);  // and apart
          Check({rows, cols, -cols, 1, to_row}, size);     // from the last up
          Check({rows, cols, 0, 1, to_row}, size);         // one row, repeated
          Check({rows, cols, 1, 0, to_row}, size);         // an element each
          Check({rows, cols, 3, 0, to_row}, size);         //
          Check({rows, cols, 0, 0, to_row}, size);         // one for all
          Check({rows, cols, 1, rows, to_row}, size);      // transposed
          Check({rows, cols, 1, rows + 2, to_row}, size);  //
          Check({rows, cols, 2 * cols, 2, to_row}, size);  // every other one
          Check({rows, cols, 3 * cols + 1, 3, to_row}, size);
          Check({rows, cols, 0, 3, to_row}, size);
          Check({rows, cols, cols, -1, to_row}, size);
        }
      }
    }
  }
}

TEST(BlockCopy, Boxes) {
  const std::vector<BoxDim> dims = {{2, 12, 40}, {3, 4, 13}, {2, 0, 6}, {4, 1, 1}};
  std::vector<uint16_t> source(24);
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<uint16_t>(i);
  std::vector<uint16_t> target(80, 999);
  std::vector<uint16_t> want = target;
  for (size_t a = 0; a < 2; ++a) {
    for (size_t b = 0; b < 3; ++b) {
      for (size_t c = 0; c < 2; ++c) {
        for (size_t d = 0; d < 4; ++d) want[40 * a + 13 * b + 6 * c + d] = source[12 * a + 4 * b + d];
      }
    }
  }
  CopyBox(dims, reinterpret_cast<const char*>(source.data()), reinterpret_cast<char*>(target.data()), 2,
          BlockCopyOf(2));
  EXPECT_EQ(target, want);
}

}  // namespace
}  // namespace wherry::cpu
