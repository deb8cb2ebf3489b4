// quantize_linear, dequantize_linear, dynamic_quantize, quantized_add, quantized_multiply, quantized_map.
#include "kernels/ref/quantize.h"

#include <utility>

#include "base/check.h"
#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/broadcast.h"
#include "op/infer/infer_util.h"

namespace wherry::ref {
namespace {

// Which scale an element of x has.
class ScaleOf {
 public:
  ScaleOf(const DenseTensor& x, const DenseTensor& scale, int axis, int64_t block_size) {
    if (scale.numel() == 1) return;
    const int at = NormalizeAxis(axis, x.shape().rank(), "axis");
    extent_ = x.shape()[at];
    for (int i = at + 1; i < x.shape().rank(); ++i) inner_ *= x.shape()[i];
    per_tensor_ = false;
    if (block_size == 0) return;
    block_ = block_size;
    blocks_ = scale.shape()[at];
  }

  int64_t operator()(int64_t element) const {
    if (per_tensor_) return 0;
    const int64_t place = element / inner_ % extent_;
    if (block_ == 0) return place;
    return (element / (inner_ * extent_) * blocks_ + place / block_) * inner_ + element % inner_;
  }

 private:
  bool per_tensor_ = true;
  int64_t extent_ = 1;
  int64_t inner_ = 1;
  int64_t block_ = 0;
  int64_t blocks_ = 1;
};

float FloatAt(const DenseTensor& tensor, int64_t i) {
  switch (tensor.dtype()) {
    case DataType::kFP64: return static_cast<float>(tensor.data<double>()[i]);
    case DataType::kFP16: return static_cast<float>(tensor.data<Float16>()[i]);
    case DataType::kBF16: return static_cast<float>(tensor.data<BFloat16>()[i]);
    default: return tensor.data<float>()[i];
  }
}

template <typename T, typename Q>
void QuantizeTo(const DenseTensor& x, const DenseTensor& scale, const DenseTensor* zero_point, const ScaleOf& scale_of,
                bool ties_away, DenseTensor* out) {
  const T* from = x.data<T>();
  Q* to = out->mutable_data<Q>();
  for (int64_t i = 0; i < x.numel(); ++i) {
    const int64_t s = scale_of(i);
    float steps = static_cast<float>(from[i]) / FloatAt(scale, s);
    if (ties_away) steps = std::roundf(steps);
    to[i] = static_cast<Q>(
        ToStep(steps, ZeroOf(zero_point, s), std::numeric_limits<Q>::lowest(), std::numeric_limits<Q>::max()));
  }
}

template <typename T>
void QuantizeLinear(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& scale,
                    const DenseTensor* zero_point, int axis, int64_t block_size, bool ties_away, DenseTensor* out) {
  if (x.numel() == 0) return;
  const ScaleOf scale_of(x, scale, axis, block_size);
  switch (out->dtype()) {
    case DataType::kInt8: return QuantizeTo<T, int8_t>(x, scale, zero_point, scale_of, ties_away, out);
    case DataType::kUInt8: return QuantizeTo<T, uint8_t>(x, scale, zero_point, scale_of, ties_away, out);
    case DataType::kInt16: return QuantizeTo<T, int16_t>(x, scale, zero_point, scale_of, ties_away, out);
    default: return QuantizeTo<T, uint16_t>(x, scale, zero_point, scale_of, ties_away, out);
  }
}

template <typename T, typename F>
void DequantizeTo(const DenseTensor& x, const DenseTensor& scale, const DenseTensor* zero_point,
                  const ScaleOf& scale_of, DenseTensor* out) {
  const T* from = x.data<T>();
  F* to = out->mutable_data<F>();
  for (int64_t i = 0; i < x.numel(); ++i) {
    const int64_t s = scale_of(i);
    const int64_t steps = int64_t{from[i]} - ZeroOf(zero_point, s);
    to[i] = static_cast<F>(static_cast<float>(steps) * FloatAt(scale, s));
  }
}

template <typename T>
void DequantizeLinear(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& scale,
                      const DenseTensor* zero_point, int axis, int64_t block_size, DenseTensor* out) {
  if (x.numel() == 0) return;
  const ScaleOf scale_of(x, scale, axis, block_size);
  switch (out->dtype()) {
    case DataType::kFP64: return DequantizeTo<T, double>(x, scale, zero_point, scale_of, out);
    case DataType::kFP16: return DequantizeTo<T, Float16>(x, scale, zero_point, scale_of, out);
    case DataType::kBF16: return DequantizeTo<T, BFloat16>(x, scale, zero_point, scale_of, out);
    default: return DequantizeTo<T, float>(x, scale, zero_point, scale_of, out);
  }
}

template <typename T>
void DynamicQuantize(const CpuContext& /*context*/, const DenseTensor& x, DenseTensor* out, DenseTensor* scale,
                     DenseTensor* zero_point) {
  float low = 0.0F;
  float high = 0.0F;
  for (int64_t i = 0; i < x.numel(); ++i) {
    const float value = x.data<T>()[i];
    // NaN stays.
    low = std::isnan(low) || value >= low ? low : value;
    high = std::isnan(high) || value <= high ? high : value;
  }
  const float step = (high - low) / 255.0F;
  const int32_t zero = ToStep(-low / step, 0, 0, 255);
  scale->mutable_data<float>()[0] = step;
  zero_point->mutable_data<uint8_t>()[0] = static_cast<uint8_t>(zero);
  for (int64_t i = 0; i < x.numel(); ++i) {
    out->mutable_data<uint8_t>()[i] = static_cast<uint8_t>(ToStep(x.data<T>()[i] / step, zero, 0, 255));
  }
}

// function(number, number) of what x and y stand for, in steps of out_scale.
template <typename T, typename Function>
void QuantizedBinary(const DenseTensor& x, const DenseTensor& y, float x_scale, float y_scale, float out_scale,
                     int x_zero, int y_zero, int out_zero, int low, int high, DenseTensor* out, Function function) {
  low = std::max<int>(low, std::numeric_limits<T>::lowest());
  high = std::min<int>(high, std::numeric_limits<T>::max());
  MapBroadcast<T, T, T>(x, y, out, [=](T a, T b) {
    const float left = static_cast<float>(a - x_zero) * x_scale;
    const float right = static_cast<float>(b - y_zero) * y_scale;
    return static_cast<T>(ToStep(function(left, right) / out_scale, out_zero, low, high));
  });
}

template <typename T>
void QuantizedAdd(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, float x_scale,
                  float y_scale, float out_scale, int x_zero, int y_zero, int out_zero, int low, int high,
                  DenseTensor* out) {
  QuantizedBinary<T>(x, y, x_scale, y_scale, out_scale, x_zero, y_zero, out_zero, low, high, out,
                     [](float a, float b) { return a + b; });
}

template <typename T>
void QuantizedMultiply(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, float x_scale,
                       float y_scale, float out_scale, int x_zero, int y_zero, int out_zero, int low, int high,
                       DenseTensor* out) {
  QuantizedBinary<T>(x, y, x_scale, y_scale, out_scale, x_zero, y_zero, out_zero, low, high, out,
                     [](float a, float b) { return a * b; });
}

template <typename T>
void QuantizedMap(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& table, DenseTensor* out) {
  const T* from = x.data<T>();
  const auto* values = static_cast<const uint8_t*>(table.raw_data());
  auto* to = static_cast<uint8_t*>(out->mutable_raw_data());
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = values[from[i] - std::numeric_limits<T>::lowest()];
}

}  // namespace

REGISTER_KERNEL(quantize_linear, ref, kHost, kNCHW, QuantizeLinear, WHERRY_REF_FLOATS);
REGISTER_KERNEL(dequantize_linear, ref, kHost, kNCHW, DequantizeLinear, int8_t, uint8_t, int16_t, uint16_t, int32_t);
REGISTER_KERNEL(dynamic_quantize, ref, kHost, kNCHW, DynamicQuantize, float);
REGISTER_KERNEL(quantized_add, ref, kHost, kNCHW, QuantizedAdd, int8_t, uint8_t);
REGISTER_KERNEL(quantized_multiply, ref, kHost, kNCHW, QuantizedMultiply, int8_t, uint8_t);
REGISTER_KERNEL(quantized_map, ref, kHost, kNCHW, QuantizedMap, int8_t, uint8_t);

}  // namespace wherry::ref
