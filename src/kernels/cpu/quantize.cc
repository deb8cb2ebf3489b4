// quantize_linear, dequantize_linear and quantized_add with one scale for the tensor, in either layout.
#include <algorithm>
#include <array>
#include <limits>

#include "core/device_context.h"
#include "kernel/kernel_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/quantized/byte_elementwise.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/tensor_loops.h"

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

// Calls fn(offsets of the inputs, offset of the result, count) for rows of neighbours of the result and of all inputs.
template <size_t kInputs, typename Fn>
void ForRows(const CpuContext& context, const TensorMeta& out, const std::array<TensorMeta, kInputs>& inputs,
             const Fn& fn) {
  using Offsets = std::array<int64_t, kInputs>;
  constexpr int64_t kGrain = 16384;
  const Isa isa = ActiveIsa();
  const BroadcastLoops loops = LoopsOver(out, inputs);
  const int last = loops.rank() - 1;
  bool neighbours = true;  // else element by element
  for (size_t i = 0; i < kInputs; ++i) neighbours = neighbours && loops.stride(static_cast<int>(i), last) == 1;
  const auto run = [&](int64_t row, int64_t begin, int64_t end) {
    Offsets from{};
    int64_t to = 0;
    for (int d = last - 1; d >= 0; --d) {
      const int64_t place = row % loops.dim(d);
      row /= loops.dim(d);
      to += place * loops.out_stride(d);
      for (size_t i = 0; i < kInputs; ++i) from[i] += place * loops.stride(static_cast<int>(i), d);
    }
    const int64_t step = neighbours ? end - begin : 1;
    for (int64_t at = begin; at < end; at += step) {
      Offsets first = from;
      for (size_t i = 0; i < kInputs; ++i) first[i] += at * loops.stride(static_cast<int>(i), last);
      fn(first, to + at, step);
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
  ForRows<1>(context, out->meta(), {x.meta()},
             [&](const auto& begin, int64_t at, int64_t count) { QuantizeRow(from + begin[0], count, step, to + at); });
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
  ForRows<1>(context->device_as<CpuContext>(), out->meta(), {x.meta()},
             [&](const auto& begin, int64_t at, int64_t count) {
               DequantizeRow(from + begin[0], count, scale, zero, to + at);
             });
}

template <typename T>
void QuantizedAdd(const CpuContext& context, const DenseTensor& x, const DenseTensor& y, float x_scale, float y_scale,
                  float out_scale, int x_zero, int y_zero, int out_zero, int low, int high, DenseTensor* out) {
  if (out->numel() == 0) return;
  const QuantizedSum sum{x_scale,
                         y_scale,
                         out_scale,
                         x_zero,
                         y_zero,
                         out_zero,
                         std::max<int>(low, std::numeric_limits<T>::lowest()),
                         std::min<int>(high, std::numeric_limits<T>::max())};
  const T* const a = x.data<T>();
  const T* const b = y.data<T>();
  T* const to = out->mutable_data<T>();
  ForRows<2>(context, out->meta(), {x.meta(), y.meta()}, [&](const auto& begin, int64_t at, int64_t count) {
    QuantizedAddRow(a + begin[0], b + begin[1], count, sum, to + at);
  });
}

}  // namespace

REGISTER_KERNEL_VARIANT(quantize_linear, cpu, one_scale, kNative, kFloat, kNCHW)
    .Supports(&SupportsOneScale)
    .Run(&RunQuantize);
REGISTER_KERNEL_VARIANT(dequantize_linear, cpu, one_scale, kNative, kUInt8, kNCHW)
    .Supports(&SupportsDequantize)
    .Run(&RunDequantize<uint8_t>);
REGISTER_KERNEL_VARIANT(dequantize_linear, cpu, one_scale, kNative, kInt8, kNCHW)
    .Supports(&SupportsDequantize)
    .Run(&RunDequantize<int8_t>);
REGISTER_KERNEL(quantized_add, cpu, kNative, kNCHW, QuantizedAdd, uint8_t, int8_t);
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
REGISTER_KERNEL(quantized_add, cpu, kNative, kNHWC, QuantizedAdd, uint8_t, int8_t).PixelStrides();

}  // namespace wherry::cpu
