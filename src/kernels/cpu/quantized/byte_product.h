// A product of bytes whose rows are placed block by block (a convolution's windows, a matrix in another form), shared
// out to threads.
#pragma once

#include <cstdint>

#include "base/function_ref.h"
#include "base/thread_pool.h"
#include "core/dense_tensor.h"
#include "kernels/cpu/quantized/byte_gemm.h"

namespace wherry::cpu {

// `groups` products side by side, each of rows x k times k x n, whose results' columns follow one another. A row is
// made of segments of one depth, each of which lies somewhere of its own.
struct ByteProductShape {
  int64_t rows = 0;
  int64_t n = 0;
  int64_t depth = 0;
  int64_t segments = 1;
  int64_t groups = 1;

  int64_t k() const { return segments * depth; }
  // Packed, every segment has a multiple of 4.
  int64_t packed_k() const { return segments * PaddedDepth(depth); }
  int64_t panels() const { return PaddedBytes64(n) / kBytePanel; }
  int64_t parameters() const { return groups * PaddedBytes64(n); }  // of each kind, with gaps behind each group
  int64_t packed_bytes() const { return groups * PackedByteSize(packed_k(), n); }
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
  ByteRowForm row_form = ByteRowForm::kSegments;
  int64_t worker_bytes = 0;     // places of a block's segments, sums of its rows, rows in their form, a buffer for rows
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
// What the sums of a column are corrected and scaled by, for each channel. Borrows the tensors.
class ByteColumns {
 public:
  // x_zero: UnsignedZero of x. weights: how many a sum is made of.
  ByteColumns(const ByteParameters& given, DataType weight_type, int32_t x_zero, int64_t weights);

  // weight_sum: of the column's weights as i8.
  int32_t Offset(int64_t channel, int32_t weight_sum) const {
    const auto zero = static_cast<uint32_t>(WeightZero(channel));
    const auto bias = static_cast<uint32_t>(bias_[channel * bias_step_]);
    return static_cast<int32_t>(bias + x_zero_ * (weights_ * zero - static_cast<uint32_t>(weight_sum)));
  }
  // Of weights as i8.
  int32_t WeightZero(int64_t channel) const {
    const uint8_t byte = weight_zero_[channel * weight_zero_step_];
    return (is_signed_ ? static_cast<int8_t>(byte) : byte) - less_;
  }
  bool has_weight_zeros() const { return has_weight_zeros_; }
  // Without scales: 0.
  float Scale(int64_t channel) const { return scale_[channel * scale_step_]; }

 private:
  uint32_t x_zero_;
  uint32_t weights_;
  int32_t less_;
  bool is_signed_;
  bool has_weight_zeros_ = false;
  // A step of 0: one for all.
  const float* scale_;
  int64_t scale_step_ = 0;
  const int32_t* bias_;
  int64_t bias_step_ = 0;
  const uint8_t* weight_zero_;
  int64_t weight_zero_step_ = 0;
};
ResultKind ResultKindOf(DataType dtype);
// The part of a result that its type and the bounds say; without data and arrays.
ByteResult BindByteResult(const ByteParameters& parameters, DataType dtype);

// Where rows [row, row + count) of a group's left factor lie: segment s of the row + i at places[s * pitch + i], with
// PaddedDepth(depth) readable bytes. What lies nowhere as it is needed is written to `buffer`, which has room for all
// of them and one segment more.
using PlaceRows = FunctionRef<void(int64_t group, int64_t row, int64_t count, const uint8_t** places, int64_t pitch,
                                   uint8_t* buffer)>;

struct ByteProduct {
  const ByteProductPlan& plan;
  const void* packed = nullptr;
  DataType x_type;
  DataType weight_type;
  ByteParameters parameters;
  DataType out_type;
  void* out = nullptr;
  int64_t out_stride = 0;
};
// scratch: plan.scratch_bytes(), aligned to 64.
void RunByteProduct(const ByteProduct& product, PlaceRows place, void* scratch, ThreadPool* pool);

}  // namespace wherry::cpu
