// A product of bytes whose rows are made block by block (a convolution's windows, a matrix in another form), shared out
// to threads.
#pragma once

#include <cstdint>

#include "base/function_ref.h"
#include "base/thread_pool.h"
#include "core/dense_tensor.h"
#include "kernels/cpu/quantized/byte_gemm.h"

namespace wherry::cpu {

// `groups` products side by side, each of rows x k times k x n, whose results' columns follow one another.
struct ByteProductShape {
  int64_t rows = 0;
  int64_t n = 0;
  int64_t k = 0;
  int64_t groups = 1;

  int64_t panels() const { return PaddedBytes64(n) / kBytePanel; }
  int64_t parameters() const { return groups * PaddedBytes64(n); }  // of each kind, with gaps behind each group
  int64_t packed_bytes() const { return groups * PackedByteSize(k, n); }
};

// How it is cut. Immutable; results do not depend on the cut.
struct ByteProductPlan {
  ByteProductPlan() = default;
  ByteProductPlan(const ByteProductShape& product, int threads);

  ByteProductShape shape;
  int64_t block_rows = 1;
  int64_t row_blocks = 0;
  int64_t panel_blocks = 1;
  int64_t workers = 1;
  int64_t worker_bytes = 0;     // a block of rows, then their sums
  int64_t parameter_bytes = 0;  // offsets, scales and zero points of the weights

  size_t scratch_bytes() const { return static_cast<size_t>(parameter_bytes + workers * worker_bytes); }
};

// The tensors of a quantised operator beside its factors, and its bounds.
struct ByteParameters {
  const DenseTensor* scale = nullptr;
  const DenseTensor* bias = nullptr;
  const DenseTensor* x_zero = nullptr;
  const DenseTensor* weight_zero = nullptr;
  const DenseTensor* out_zero = nullptr;
  int low = 0;
  int high = 0;
};

// A zero point as the bodies take it: of x as u8 (that of an i8 plus 128), of weights as i8 (that of a u8 less 128).
int32_t UnsignedZero(const DenseTensor* zero, DataType dtype);
int32_t SignedZeroAt(const DenseTensor* zero, DataType dtype, int64_t i);
ResultKind ResultKindOf(DataType dtype);
// The part of a result that its type and the bounds say; without data and arrays.
ByteResult BindByteResult(const ByteParameters& parameters, DataType dtype);

// Writes rows [row, row + count) of a group's left factor, `stride` bytes apart.
using FillRows = FunctionRef<void(int64_t group, int64_t row, int64_t count, uint8_t* to, int64_t stride)>;

// Where rows lie as they are needed: PaddedDepth(k) == k bytes of u8 each. Without data they are filled.
struct ByteRowsInPlace {
  const uint8_t* data = nullptr;
  int64_t stride = 0;
};

struct ByteProduct {
  const ByteProductPlan& plan;
  ByteRowsInPlace in_place;
  const void* packed = nullptr;
  DataType x_type;
  DataType weight_type;
  ByteParameters parameters;
  DataType out_type;
  void* out = nullptr;
  int64_t out_stride = 0;
};
// scratch: plan.scratch_bytes(), aligned to 64.
void RunByteProduct(const ByteProduct& product, FillRows fill, void* scratch, ThreadPool* pool);

}  // namespace wherry::cpu
