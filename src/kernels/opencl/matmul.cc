// matmul in f32.
#include "kernel/kernel_registrar.h"
#include "kernels/opencl/broadcast.h"
#include "kernels/opencl/context.h"

namespace wherry {

namespace {

// An operand: a batch of matrices, a vector being one row or one column.
struct Matrices {
  Shape batch;
  cl_long rows = 1;
  cl_long columns = 1;
  cl_long row_step = 0;
  cl_long column_step = 0;
};

Matrices AsMatrices(const Shape& shape, bool transpose, bool vector_is_row) {
  Matrices result;
  if (shape.rank() == 1) {
    (vector_is_row ? result.columns : result.rows) = shape[0];
    (vector_is_row ? result.column_step : result.row_step) = 1;
    return result;
  }
  for (int i = 0; i + 2 < shape.rank(); ++i) result.batch.push_back(shape[i]);
  result.rows = shape[shape.rank() - 2];
  result.columns = shape[shape.rank() - 1];
  result.row_step = result.columns;
  result.column_step = 1;
  if (transpose) {
    std::swap(result.rows, result.columns);
    std::swap(result.row_step, result.column_step);
  }
  return result;
}

// Both batches broadcast against each other; InferMeta has checked that they can be.
Shape BroadcastBatch(const Shape& a, const Shape& b) {
  std::vector<int64_t> dims(static_cast<size_t>(std::max(a.rank(), b.rank())));
  for (int i = 1; i <= static_cast<int>(dims.size()); ++i) {
    const int64_t from_a = i <= a.rank() ? a[a.rank() - i] : 1;
    const int64_t from_b = i <= b.rank() ? b[b.rank() - i] : 1;
    dims[dims.size() - static_cast<size_t>(i)] = from_a == 1 ? from_b : from_a;
  }
  return Shape(dims);
}

size_t RoundUp(cl_long value, size_t multiple) {
  return (static_cast<size_t>(value) + multiple - 1) / multiple * multiple;
}

template <typename T>
void Matmul(const OpenCLContext& context, const DenseTensor& x, const DenseTensor& y, bool transpose_x,
            bool transpose_y, DenseTensor* out) {
  static_assert(std::is_same_v<T, float>);
  if (out->numel() == 0) return;
  const Matrices a = AsMatrices(x.shape(), transpose_x, true);
  const Matrices b = AsMatrices(y.shape(), transpose_y, false);
  const Shape batch = BroadcastBatch(a.batch, b.batch);
  const opencl::Broadcast batches =
      opencl::MakeBroadcast(a.batch, b.batch, batch, a.rows * a.columns, b.rows * b.columns);

  // 16 x 16 is what nearly every device can run; the rest has at least 64 work items a group in practice, or 1 by the
  // standard.
  const size_t limit = context.device().max_work_group_size();
  const size_t tile = limit >= 256 ? 16 : limit >= 64 ? 8 : 1;
  const size_t global[] = {RoundUp(b.columns, tile), RoundUp(a.rows, tile), static_cast<size_t>(batch.numel())};
  const size_t local[] = {tile, tile, 1};
  context.Launch("matmul", "-DTILE=" + std::to_string(tile), "matmul_f32", global, local, x, y, *out, batches, a.rows,
                 a.columns, b.columns, a.row_step, a.column_step, b.row_step, b.column_step);
}

}  // namespace

REGISTER_KERNEL(matmul_v2, opencl, kOpenCL, kNCHW, Matmul, float);

}  // namespace wherry
