// quantized_conv2d, quantized_matmul: exact sums of integers, then one multiplication.
#include <vector>

#include "base/check.h"
#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/quantize.h"
#include "kernels/ref/strided.h"
#include "op/infer/matrices.h"
#include "op/infer/window.h"

namespace wherry::ref {
namespace {

// What becomes of a sum.
class Finish {
 public:
  Finish(const DenseTensor* scale, const DenseTensor* bias, const DenseTensor* out_zero, int low, int high,
         DenseTensor* out)
      : scale_(scale), bias_(bias), zero_(ZeroOf(out_zero)), low_(low), high_(high), out_(out) {
    const bool is_signed = out->dtype() == DataType::kInt8;
    low_ = std::max(low_, is_signed ? -128 : 0);
    high_ = std::min(high_, is_signed ? 127 : 255);
  }

  // sum: modulo 2^32.
  void Store(uint32_t sum, int64_t channel, int64_t index) const {
    if (bias_ != nullptr) sum += static_cast<uint32_t>(bias_->data<int32_t>()[bias_->numel() == 1 ? 0 : channel]);
    const auto total = static_cast<int32_t>(sum);
    if (scale_ == nullptr) {
      out_->mutable_data<int32_t>()[index] = total;
      return;
    }
    const float value = static_cast<float>(total) * scale_->data<float>()[scale_->numel() == 1 ? 0 : channel];
    switch (out_->dtype()) {
      case DataType::kFloat: out_->mutable_data<float>()[index] = value; break;
      case DataType::kInt8:
        out_->mutable_data<int8_t>()[index] = static_cast<int8_t>(ToStep(value, zero_, low_, high_));
        break;
      default: out_->mutable_data<uint8_t>()[index] = static_cast<uint8_t>(ToStep(value, zero_, low_, high_)); break;
    }
  }

 private:
  const DenseTensor* scale_;
  const DenseTensor* bias_;
  int32_t zero_;
  int32_t low_;
  int32_t high_;
  DenseTensor* out_;
};

template <typename X, typename W>
void ConvOf(const DenseTensor& x, const DenseTensor& filter, const DenseTensor* x_zero, const DenseTensor* filter_zero,
            const WindowAttributes& window, int groups, const Finish& finish, const Shape& out) {
  const X* from = x.data<X>();
  const W* weights = filter.data<W>();
  const Shape& in = x.shape();
  const Shape& w = filter.shape();
  const WindowAxis rows = ResolveWindowAxis(window, 0, in[2], w[2], false);
  const WindowAxis columns = ResolveWindowAxis(window, 1, in[3], w[3], false);
  const int32_t zero = ZeroOf(x_zero);
  int64_t index = 0;
  for (int64_t n = 0; n < out[0]; ++n) {
    for (int64_t m = 0; m < out[1]; ++m) {
      const int32_t weight_zero = ZeroOf(filter_zero, m);
      const int64_t first = n * in[1] + m / (out[1] / groups) * w[1];
      for (int64_t oh = 0; oh < out[2]; ++oh) {
        for (int64_t ow = 0; ow < out[3]; ++ow, ++index) {
          uint32_t sum = 0;
          for (int64_t i = 0; i < w[1]; ++i) {
            for (int64_t kh = 0; kh < w[2]; ++kh) {
              const int64_t ih = oh * window.stride[0] - rows.pad_begin + kh * window.dilation[0];
              if (ih < 0 || ih >= in[2]) continue;
              for (int64_t kw = 0; kw < w[3]; ++kw) {
                const int64_t iw = ow * window.stride[1] - columns.pad_begin + kw * window.dilation[1];
                if (iw < 0 || iw >= in[3]) continue;
                const int32_t a = from[((first + i) * in[2] + ih) * in[3] + iw] - zero;
                const int32_t b = weights[((m * w[1] + i) * w[2] + kh) * w[3] + kw] - weight_zero;
                sum += static_cast<uint32_t>(a * b);
              }
            }
          }
          finish.Store(sum, m, index);
        }
      }
    }
  }
}

template <typename T>
void QuantizedConv2d(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& filter,
                     const DenseTensor* scale, const DenseTensor* bias, const DenseTensor* x_zero,
                     const DenseTensor* filter_zero, const DenseTensor* out_zero, const std::vector<int64_t>& strides,
                     const std::vector<int64_t>& paddings, const std::string& padding_algorithm,
                     const std::vector<int64_t>& dilations, int groups, int low, int high, DenseTensor* out) {
  if (out->numel() == 0) return;
  const WindowAttributes window = ParseWindow(2, strides, paddings, padding_algorithm, dilations);
  const Finish finish(scale, bias, out_zero, low, high, out);
  if (filter.dtype() == DataType::kInt8) {
    ConvOf<T, int8_t>(x, filter, x_zero, filter_zero, window, groups, finish, out->shape());
  } else {
    ConvOf<T, uint8_t>(x, filter, x_zero, filter_zero, window, groups, finish, out->shape());
  }
}

template <typename X, typename W>
void MatmulOf(const DenseTensor& x, const DenseTensor& y, const DenseTensor* x_zero, const DenseTensor* y_zero,
              bool transpose_y, const Finish& finish, const Shape& batch) {
  const Matrices left = ViewMatrices(x.shape(), false, true);
  const Matrices right = ViewMatrices(y.shape(), transpose_y, false);
  WHERRY_CHECK(left.columns == right.rows, "inner dimensions ", left.columns, " and ", right.rows);
  Strides left_strides = BroadcastStrides(left.batch, batch);
  Strides right_strides = BroadcastStrides(right.batch, batch);
  for (int64_t& stride : left_strides) stride *= left.rows * left.columns;
  for (int64_t& stride : right_strides) stride *= right.rows * right.columns;
  Odometer<2> at(batch, {left_strides, right_strides});
  const int32_t zero = ZeroOf(x_zero);
  int64_t index = 0;
  for (int64_t b = 0, count = batch.numel(); b < count; ++b, at.Next()) {
    for (int64_t i = 0; i < left.rows; ++i) {
      for (int64_t j = 0; j < right.columns; ++j, ++index) {
        const X* row = x.data<X>() + at.offset(0) + i * left.row_stride;
        const W* column = y.data<W>() + at.offset(1) + j * right.column_stride;
        const int32_t weight_zero = ZeroOf(y_zero, j);
        uint32_t sum = 0;
        for (int64_t k = 0; k < left.columns; ++k) {
          const int32_t a = row[k * left.column_stride] - zero;
          const int32_t w = column[k * right.row_stride] - weight_zero;
          sum += static_cast<uint32_t>(a * w);
        }
        finish.Store(sum, j, index);
      }
    }
  }
}

template <typename T>
void QuantizedMatmul(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y,
                     const DenseTensor* scale, const DenseTensor* bias, const DenseTensor* x_zero,
                     const DenseTensor* y_zero, const DenseTensor* out_zero, bool transpose_y, int low, int high,
                     DenseTensor* out) {
  if (out->numel() == 0) return;
  const Finish finish(scale, bias, out_zero, low, high, out);
  const Shape batch = BatchOfProduct(out->shape(), x.shape(), y.shape());
  if (y.dtype() == DataType::kInt8) {
    MatmulOf<T, int8_t>(x, y, x_zero, y_zero, transpose_y, finish, batch);
  } else {
    MatmulOf<T, uint8_t>(x, y, x_zero, y_zero, transpose_y, finish, batch);
  }
}

}  // namespace

REGISTER_KERNEL(quantized_conv2d, ref, kHost, kNCHW, QuantizedConv2d, int8_t, uint8_t);
REGISTER_KERNEL(quantized_matmul, ref, kHost, kNCHW, QuantizedMatmul, int8_t, uint8_t);

}  // namespace wherry::ref
