// quantize_linear and dequantize_linear with one scale for the tensor, quantized_add, quantized_multiply and
// quantized_map, in either layout; dynamic_quantize.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/device_context.h"
#include "kernel/kernel_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/quantized/byte_elementwise.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/tensor_loops.h"
#include "kernels/cpu/vector/reduce.h"

namespace wherry::cpu {
namespace {

int32_t ZeroOf(const DenseTensor* zero) {
  if (zero == nullptr) return 0;
  switch (zero->dtype()) {
    case DataType::kInt8: return zero->data<int8_t>()[0];
    case DataType::kUInt8: return zero->data<uint8_t>()[0];
    case DataType::kInt16: return zero->data<int16_t>()[0];
    default: return zero->data<uint16_t>()[0];
  }
}

// Calls fn(offsets of the inputs, their steps, offset of the result, count) for rows of the result: neighbours in
// memory, as each input's are (step 1), or the input has one element for all (0).
template <size_t kInputs, typename Fn>
void ForRows(const CpuContext& context, const TensorMeta& out, const std::array<TensorMeta, kInputs>& inputs,
             const Fn& fn) {
  using Offsets = std::array<int64_t, kInputs>;
  constexpr int64_t kGrain = 16384;
  const Isa isa = ActiveIsa();
  const BroadcastLoops loops = LoopsOver(out, inputs);
  const int last = loops.rank() - 1;
  Offsets steps{};
  bool whole = true;  // else element by element
  for (size_t i = 0; i < kInputs; ++i) {
    steps[i] = loops.stride(static_cast<int>(i), last);
    whole = whole && (steps[i] == 0 || steps[i] == 1);
  }
  const auto run = [&](int64_t row, int64_t begin, int64_t end) {
    Offsets from{};
    int64_t to = 0;
    for (int d = last - 1; d >= 0; --d) {
      const int64_t place = row % loops.dim(d);
      row /= loops.dim(d);
      to += place * loops.out_stride(d);
      for (size_t i = 0; i < kInputs; ++i) from[i] += place * loops.stride(static_cast<int>(i), d);
    }
    const int64_t length = whole ? end - begin : 1;
    for (int64_t at = begin; at < end; at += length) {
      Offsets first = from;
      for (size_t i = 0; i < kInputs; ++i) first[i] += at * steps[i];
      fn(first, whole ? steps : Offsets{}, to + at, length);
    }
  };
  const int64_t cols = loops.cols();
  const int64_t rows = loops.numel() / cols;
  if (rows == 1) {
    return ParallelFor(context.pool(), cols, kGrain, [&](int64_t begin, int64_t end) {
      const ScopedIsa scoped(isa);
      run(0, begin, end);
    });
  }
  ParallelFor(context.pool(), rows, std::max<int64_t>(1, kGrain / cols), [&](int64_t begin, int64_t end) {
    const ScopedIsa scoped(isa);
    for (int64_t row = begin; row < end; ++row) run(row, 0, cols);
  });
}

// The same for one input whose shape is the result's: fn(offset of the input, offset of the result, count).
template <typename Fn>
void ForRows(const CpuContext& context, const TensorMeta& out, const TensorMeta& x, const Fn& fn) {
  ForRows<1>(context, out, {x},
             [&](const auto& from, const auto& /*steps*/, int64_t to, int64_t count) { fn(from[0], to, count); });
}

Support SupportsOneScale(const KernelProblem& problem) {
  const MetaTensor& scale = *problem.Input("scale");
  if (scale.dtype != DataType::kFloat) return Support::No("needs a scale of f32");
  if (!scale.rank_known || scale.numel() != Dim(1)) return Support::No("needs one scale");
  return Support::Yes();
}

template <typename T>
void QuantizeTo(const CpuContext& context, const DenseTensor& x, const QuantizeStep& step, DenseTensor* out) {
  const float* const from = x.data<float>();
  T* const to = out->mutable_data<T>();
  ForRows(context, out->meta(), x.meta(),
          [&](int64_t begin, int64_t at, int64_t count) { QuantizeRow(from + begin, count, step, to + at); });
}

// Tensors: x, scale, zero_point. Attributes: axis, block_size, ties_away.
void RunQuantize(KernelContext* context) {
  DenseTensor* const out = context->Output(0);
  if (out->numel() == 0) return;
  const CpuContext& device = context->device_as<CpuContext>();
  const DenseTensor& x = *context->Input(0);
  const QuantizeStep step{context->Input(1)->data<float>()[0], ZeroOf(context->Input(2)), context->AttrAt<bool>(2)};
  switch (out->dtype()) {
    case DataType::kInt8: return QuantizeTo<int8_t>(device, x, step, out);
    case DataType::kUInt8: return QuantizeTo<uint8_t>(device, x, step, out);
    case DataType::kInt16: return QuantizeTo<int16_t>(device, x, step, out);
    default: return QuantizeTo<uint16_t>(device, x, step, out);
  }
}

// Extremes are taken of a piece that stays in the nearest cache, so that x is read from memory once for both.
template <typename T>
void DynamicQuantize(const CpuContext& context, const DenseTensor& x, DenseTensor* out, DenseTensor* scale,
                     DenseTensor* zero_point) {
  constexpr int64_t kPiece = 2048;
  const int64_t count = x.numel();
  const int64_t pieces = (count + kPiece - 1) / kPiece;
  const T* const from = x.data<T>();
  auto* const lows = static_cast<T*>(context.Scratch(static_cast<size_t>(2 * pieces + 2) * sizeof(T)));
  T* const highs = lows + pieces + 1;
  const Isa isa = ActiveIsa();
  ParallelFor(context.pool(), pieces, 8, [&](int64_t begin, int64_t end) {
    const ScopedIsa scoped(isa);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t length = std::min(kPiece, count - i * kPiece);
      Reduce(ReduceKind::kMin, from + i * kPiece, lows + i, 1, length, 1, nullptr);
      Reduce(ReduceKind::kMax, from + i * kPiece, highs + i, 1, length, 1, nullptr);
    }
  });
  // Zero is among the values.
  lows[pieces] = 0;
  highs[pieces] = 0;
  T low = 0;
  T high = 0;
  Reduce(ReduceKind::kMin, lows, &low, 1, pieces + 1, 1, nullptr);
  Reduce(ReduceKind::kMax, highs, &high, 1, pieces + 1, 1, nullptr);
  QuantizeStep step{(high - low) / 255.0F, 0, false};
  const T lowest = -low;
  auto* const zero = zero_point->mutable_data<uint8_t>();
  QuantizeRow(&lowest, 1, step, zero);
  step.zero = *zero;
  scale->mutable_data<float>()[0] = step.scale;
  if (count > 0) QuantizeTo<uint8_t>(context, x, step, out);
}

Support SupportsDequantize(const KernelProblem& problem) {
  if (problem.Output().dtype != DataType::kFloat) return Support::No("needs a result of f32");
  return SupportsOneScale(problem);
}

template <typename T>
void RunDequantize(KernelContext* context) {
  DenseTensor* const out = context->Output(0);
  if (out->numel() == 0) return;
  const DenseTensor& x = *context->Input(0);
  const float scale = context->Input(1)->data<float>()[0];
  const int32_t zero = ZeroOf(context->Input(2));
  const T* const from = x.data<T>();
  float* const to = out->mutable_data<float>();
  ForRows(context->device_as<CpuContext>(), out->meta(), x.meta(),
          [&](int64_t begin, int64_t at, int64_t count) { DequantizeRow(from + begin, count, scale, zero, to + at); });
}

template <typename T>
void QuantizedBinary(const CpuContext& context, const DenseTensor& x, const DenseTensor& y, QuantizedPair pair,
                     decltype(&QuantizedAddRow<T>) row, DenseTensor* out) {
  if (out->numel() == 0) return;
  pair.low = std::max<int>(pair.low, std::numeric_limits<T>::lowest());
  pair.high = std::min<int>(pair.high, std::numeric_limits<T>::max());
  const T* const a = x.data<T>();
  const T* const b = y.data<T>();
  T* const to = out->mutable_data<T>();
  ForRows<2>(context, out->meta(), {x.meta(), y.meta()},
             [&](const auto& begin, const auto& steps, int64_t at, int64_t count) {
               row(a + begin[0], steps[0], b + begin[1], steps[1], count, pair, to + at);
             });
}

template <typename T>
void QuantizedAdd(const CpuContext& context, const DenseTensor& x, const DenseTensor& y, float x_scale, float y_scale,
                  float out_scale, int x_zero, int y_zero, int out_zero, int low, int high, DenseTensor* out) {
  const QuantizedPair pair{x_scale, y_scale, out_scale, x_zero, y_zero, out_zero, low, high};
  QuantizedBinary<T>(context, x, y, pair, &QuantizedAddRow<T>, out);
}

template <typename T>
void QuantizedMultiply(const CpuContext& context, const DenseTensor& x, const DenseTensor& y, float x_scale,
                       float y_scale, float out_scale, int x_zero, int y_zero, int out_zero, int low, int high,
                       DenseTensor* out) {
  const QuantizedPair pair{x_scale, y_scale, out_scale, x_zero, y_zero, out_zero, low, high};
  QuantizedBinary<T>(context, x, y, pair, &QuantizedMultiplyRow<T>, out);
}

// Of whole images, whose channels or pixels lie side by side.
Support SupportsMean(const KernelProblem& problem) {
  const MetaTensor& x = *problem.Input("x");
  if (!x.rank_known || x.rank() != 4 || !problem.Attr<bool>("keepdim") || !problem.HasAttr("axis")) {
    return Support::No("needs an image that becomes one pixel");
  }
  uint32_t axes = 0;
  for (const int64_t axis : problem.Attr<IntArray>("axis"))
    axes |= 1U << static_cast<uint32_t>(axis < 0 ? axis + 4 : axis);
  return axes == 0b1100U ? Support::Yes() : Support::No("needs the mean of an image's pixels");
}

// Attributes: x_scale, out_scale, x_zero, out_zero, axis.
template <typename T>
void RunMean(KernelContext* context) {
  DenseTensor* const out = context->Output(0);
  if (out->numel() == 0) return;
  const DenseTensor& x = *context->Input(0);
  const auto x_scale = context->AttrAt<float>(0);
  const auto x_zero = context->AttrAt<int>(2);
  const QuantizeStep step{context->AttrAt<float>(1), context->AttrAt<int>(3), false};
  const int64_t channels = x.shape()[1];
  const int64_t pixels = x.shape()[2] * x.shape()[3];
  const AxisStrides strides = StridesOf(x.meta());
  const AxisStrides out_strides = StridesOf(out->meta());
  const bool channels_last = x.meta().layout == DataLayout::kNHWC;
  // Sums of this many bytes stay below 2^31.
  constexpr int64_t kMost = int64_t{1} << 23;
  constexpr int64_t kBlock = 64;
  const int64_t blocks = (channels + kBlock - 1) / kBlock;
  const Isa isa = ActiveIsa();
  ParallelFor(context->device_as<CpuContext>().pool(), x.shape()[0] * blocks, 1, [&](int64_t begin, int64_t end) {
    const ScopedIsa scoped(isa);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % blocks * kBlock;
      const int64_t count = std::min(kBlock, channels - first);
      const T* const from = x.data<T>() + i / blocks * strides[0] + first * strides[1];
      std::array<int64_t, kBlock> totals{};
      for (int64_t at = 0; at < pixels; at += kMost) {
        const int64_t rest = std::min(kMost, pixels - at);
        std::array<int32_t, kBlock> sums{};
        if (channels_last) {
          SumRows(from + at * strides[3], rest, strides[3], count, sums.data());
        } else {
          for (int64_t c = 0; c < count; ++c) sums[c] = SumOfRow(from + c * strides[1] + at, rest);
        }
        for (int64_t c = 0; c < count; ++c) totals[c] += int64_t{sums[c]} - rest * x_zero;
      }
      std::array<float, kBlock> means{};
      for (int64_t c = 0; c < count; ++c) {
        means[c] = static_cast<float>(totals[c]) / static_cast<float>(pixels) * x_scale;
      }
      QuantizeRow(means.data(), count, step,
                  out->mutable_data<T>() + i / blocks * out_strides[0] + first * out_strides[1]);
    }
  });
}

// A function of its own so that the pointers stay in registers: bytes that are stored might be anything, for a lambda
// what it captured. Eight at a time are read as one number.
template <typename T>
void MapRow(const T* x, int64_t count, const uint8_t* table, uint8_t* out) {
  constexpr uint64_t kFlip = std::is_signed_v<T> ? 0x8080808080808080U : 0;
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    uint64_t places = 0;
    std::memcpy(&places, x + i, sizeof(places));
    places ^= kFlip;
    for (int64_t k = 0; k < 8; ++k) out[i + k] = table[(places >> (8 * k)) & 0xFFU];
  }
  for (; i < count; ++i) out[i] = table[x[i] - std::numeric_limits<T>::lowest()];
}

template <typename T>
void QuantizedMap(const CpuContext& context, const DenseTensor& x, const DenseTensor& table, DenseTensor* out) {
  if (out->numel() == 0) return;
  const T* const from = x.data<T>();
  const auto* const values = static_cast<const uint8_t*>(table.raw_data());
  auto* const to = static_cast<uint8_t*>(out->mutable_raw_data());
  ForRows(context, out->meta(), x.meta(),
          [&](int64_t begin, int64_t at, int64_t count) { MapRow(from + begin, count, values, to + at); });
}

}  // namespace

REGISTER_KERNEL(dynamic_quantize, cpu, kNative, kNCHW, DynamicQuantize, float);
REGISTER_KERNEL_VARIANT(quantize_linear, cpu, one_scale, kNative, kFloat, kNCHW)
    .Supports(&SupportsOneScale)
    .Run(&RunQuantize);
REGISTER_KERNEL_VARIANT(dequantize_linear, cpu, one_scale, kNative, kUInt8, kNCHW)
    .Supports(&SupportsDequantize)
    .Run(&RunDequantize<uint8_t>);
REGISTER_KERNEL_VARIANT(dequantize_linear, cpu, one_scale, kNative, kInt8, kNCHW)
    .Supports(&SupportsDequantize)
    .Run(&RunDequantize<int8_t>);
REGISTER_KERNEL(quantized_add, cpu, kNative, kAny, QuantizedAdd, uint8_t, int8_t).PixelStrides();
REGISTER_KERNEL(quantized_multiply, cpu, kNative, kAny, QuantizedMultiply, uint8_t, int8_t).PixelStrides();
REGISTER_KERNEL_VARIANT(quantized_mean, cpu, image, kNative, kUInt8, kNCHW)
    .Supports(&SupportsMean)
    .Run(&RunMean<uint8_t>);
REGISTER_KERNEL_VARIANT(quantized_mean, cpu, image, kNative, kInt8, kNCHW)
    .Supports(&SupportsMean)
    .Run(&RunMean<int8_t>);
REGISTER_KERNEL_VARIANT(quantized_mean, cpu, image, kNative, kUInt8, kNHWC)
    .Supports(&SupportsMean)
    .Run(&RunMean<uint8_t>)
    .PixelStrides();
REGISTER_KERNEL_VARIANT(quantized_mean, cpu, image, kNative, kInt8, kNHWC)
    .Supports(&SupportsMean)
    .Run(&RunMean<int8_t>)
    .PixelStrides();
REGISTER_KERNEL(quantized_map, cpu, kNative, kAny, QuantizedMap, uint8_t, int8_t).PixelStrides();
REGISTER_KERNEL_VARIANT(quantize_linear, cpu, one_scale, kNative, kFloat, kNHWC)
    .Supports(&SupportsOneScale)
    .Run(&RunQuantize)
    .PixelStrides();
REGISTER_KERNEL_VARIANT(dequantize_linear, cpu, one_scale, kNative, kUInt8, kNHWC)
    .Supports(&SupportsDequantize)
    .Run(&RunDequantize<uint8_t>)
    .PixelStrides();
REGISTER_KERNEL_VARIANT(dequantize_linear, cpu, one_scale, kNative, kInt8, kNHWC)
    .Supports(&SupportsDequantize)
    .Run(&RunDequantize<int8_t>)
    .PixelStrides();

}  // namespace wherry::cpu
