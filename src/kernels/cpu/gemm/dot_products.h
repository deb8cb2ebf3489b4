// Products that are one column or one row, whose other factor has rows of neighbours: each result is the product of two
// rows, read where they lie.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/cpu/tile_epilogue.h"

namespace wherry::cpu {

inline constexpr int64_t kDotBlock = 64;  // results that are made in one piece, at most

struct DotProducts {
  const float* rows = nullptr;
  int64_t row_stride = 0;
  int64_t count = 0;
  const float* x = nullptr;
  int64_t k = 0;
  float* out = nullptr;      // one result after another
  bool is_column = false;    // results are rows of one column for the epilogue, or columns of one row
  int64_t epilogue_row = 0;  // of the first result
};

// `batch` of them; the strides are floats from one to the next, and the epilogue's rows go on.
struct DotBatch {
  DotProducts first;
  int64_t batch = 1;
  int64_t rows_stride = 0;
  int64_t x_stride = 0;
  int64_t out_stride = 0;
};

// out = epilogue(rows x). An added operand of the epilogue may be out. Results do not depend on the number of threads.
void RunDotProducts(const DotBatch& batch, const TileEpilogue& epilogue, ThreadPool* pool);

}  // namespace wherry::cpu
