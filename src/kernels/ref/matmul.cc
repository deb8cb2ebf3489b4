// Matrix products: matmul, fused_matmul, mul, fc.
#include <span>

#include "base/check.h"
#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"
#include "kernels/ref/epilogue.h"
#include "kernels/ref/strided.h"
#include "op/infer/matrices.h"

namespace wherry::ref {
namespace {

using Operands = std::span<const DenseTensor* const>;

// Row times column: floats in double, integers in 64 bits that wrap.
template <typename T>
auto Dot(const T* x, int64_t x_stride, const T* y, int64_t y_stride, int64_t count) {
  if constexpr (FloatElement<T>) {
    double sum = 0.0;
    for (int64_t k = 0; k < count; ++k) sum += Load(x[k * x_stride]) * Load(y[k * y_stride]);
    return sum;
  } else {
    uint64_t sum = 0;
    for (int64_t k = 0; k < count; ++k) sum += Bits(x[k * x_stride]) * Bits(y[k * y_stride]);
    return FromBits<T>(sum);
  }
}

// to[index] = finish(dot, column, index) for all elements of the result, in row-major order.
template <typename T, typename Finish>
void MultiplyMatrices(const T* x, const Matrices& left, const T* y, const Matrices& right, const Shape& batch, T* to,
                      Finish finish) {
  WHERRY_CHECK(left.columns == right.rows, "inner dimensions ", left.columns, " and ", right.rows);
  if (batch.numel() == 0 || left.rows == 0 || right.columns == 0) return;
  Strides left_strides = BroadcastStrides(left.batch, batch);
  Strides right_strides = BroadcastStrides(right.batch, batch);
  for (int64_t& stride : left_strides) stride *= left.rows * left.columns;
  for (int64_t& stride : right_strides) stride *= right.rows * right.columns;
  Odometer<2> at(batch, {left_strides, right_strides});
  int64_t index = 0;
  for (int64_t b = 0, count = batch.numel(); b < count; ++b, at.Next()) {
    for (int64_t i = 0; i < left.rows; ++i) {
      for (int64_t j = 0; j < right.columns; ++j, ++index) {
        const T* row = x + at.offset(0) + i * left.row_stride;
        const T* column = y + at.offset(1) + j * right.column_stride;
        to[index] = Store<T>(finish(Dot(row, left.column_stride, column, right.row_stride, left.columns), j, index));
      }
    }
  }
}

template <typename T, typename Finish>
void MatmulWith(const DenseTensor& x, const DenseTensor& y, bool transpose_x, bool transpose_y, DenseTensor* out,
                Finish finish) {
  const Matrices left = ViewMatrices(x.shape(), transpose_x, true);
  const Matrices right = ViewMatrices(y.shape(), transpose_y, false);
  const Shape batch = BatchOfProduct(out->shape(), x.shape(), y.shape());
  MultiplyMatrices(x.data<T>(), left, y.data<T>(), right, batch, out->mutable_data<T>(), finish);
}

// x with its first x_rows axes as rows times y likewise.
template <typename T, typename Finish>
void FlattenedWith(const DenseTensor& x, const DenseTensor& y, int x_rows, int y_rows, DenseTensor* out,
                   Finish finish) {
  MultiplyMatrices(x.data<T>(), ViewFlat(x.shape(), x_rows), y.data<T>(), ViewFlat(y.shape(), y_rows), Shape{},
                   out->mutable_data<T>(), finish);
}

template <typename T>
void Matmul(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, bool transpose_x,
            bool transpose_y, DenseTensor* out) {
  MatmulWith<T>(x, y, transpose_x, transpose_y, out, [](Wide<T> dot, int64_t, int64_t) { return dot; });
}

template <typename T>
void FusedMatmul(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, Operands operands,
                 bool transpose_x, bool transpose_y, float alpha, const Epilogue& epilogue, DenseTensor* out) {
  const EpilogueSteps<T> steps(epilogue, operands);
  const double factor = alpha;
  // Without the column axis, the channels of a result of vectors are its last axis all the same.
  const int64_t channels = out->shape().empty() ? 1 : out->shape().back();
  MatmulWith<T>(x, y, transpose_x, transpose_y, out,
                [&](double dot, int64_t, int64_t index) { return steps.Apply(dot * factor, index % channels, index); });
}

template <typename T>
void Mul(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, int x_num_col_dims,
         int y_num_col_dims, DenseTensor* out) {
  FlattenedWith<T>(x, y, x_num_col_dims, y_num_col_dims, out, [](Wide<T> dot, int64_t, int64_t) { return dot; });
}

template <typename T>
void Fc(const CpuContext& /*context*/, const DenseTensor& input, const DenseTensor& w, Operands operands,
        int in_num_col_dims, const Epilogue& epilogue, DenseTensor* out) {
  const EpilogueSteps<T> steps(epilogue, operands);
  FlattenedWith<T>(input, w, in_num_col_dims, 1, out,
                   [&](double dot, int64_t column, int64_t index) { return steps.Apply(dot, column, index); });
}

}  // namespace

REGISTER_KERNEL(matmul_v2, ref, kHost, kNCHW, Matmul, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(fused_matmul, ref, kHost, kNCHW, FusedMatmul, WHERRY_REF_FLOATS);
REGISTER_KERNEL(mul, ref, kHost, kNCHW, Mul, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(fc, ref, kHost, kNCHW, Fc, WHERRY_REF_FLOATS);

}  // namespace wherry::ref
