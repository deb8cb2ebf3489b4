// quantize_linear and dequantize_linear with scales along an axis or per block of it, f32 and the plain layout.
#include <algorithm>

#include "core/device_context.h"
#include "kernel/kernel_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/quantized/byte_elementwise.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/tensor_loops.h"

namespace wherry::cpu {
namespace {

Support SupportsScales(const KernelProblem& problem) {
  const MetaTensor& scale = *problem.Input("scale");
  if (scale.dtype != DataType::kFloat) return Support::No("needs scales of f32");
  if (!scale.rank_known || scale.rank() == 0 || scale.numel() == Dim(1)) return Support::No("needs many scales");
  return Support::Yes();
}

Support SupportsDequantize(const KernelProblem& problem) {
  if (problem.Output().dtype != DataType::kFloat) return Support::No("needs a result of f32");
  return SupportsScales(problem);
}

// Neighbours of x, and the place of their scale: one for all, or as many as they are.
struct Piece {
  int64_t begin = 0;
  int64_t count = 0;
  int64_t scale = 0;
  bool one_scale = false;
};

// Calls fn(Piece) for all of x. Each may be called from several threads.
template <typename Fn>
void ForPieces(const CpuContext& context, const AxisRun& run, int64_t block, int64_t blocks, const Fn& fn) {
  constexpr int64_t kGrain = 16384;
  const Isa isa = ActiveIsa();
  const auto for_each = [&](int64_t pieces, int64_t length, const auto& piece_of) {
    ParallelFor(context.pool(), pieces, std::max<int64_t>(1, kGrain / length), [&](int64_t begin, int64_t end) {
      const ScopedIsa scoped(isa);
      for (int64_t i = begin; i < end; ++i) fn(piece_of(i));
    });
  };
  if (block > 0 && run.inner == 1) {
    for_each(run.outer * blocks, block, [&](int64_t i) {
      const int64_t at = i % blocks * block;
      return Piece{i / blocks * run.extent + at, std::min(block, run.extent - at), i, true};
    });
  } else if (block > 0) {
    for_each(run.outer * run.extent, run.inner, [&](int64_t i) {
      const int64_t scale = (i / run.extent * blocks + i % run.extent / block) * run.inner;
      return Piece{i * run.inner, run.inner, scale, false};
    });
  } else if (run.inner == 1) {
    for_each(run.outer, run.extent, [&](int64_t i) { return Piece{i * run.extent, run.extent, 0, false}; });
  } else {
    for_each(run.outer * run.extent, run.inner, [&](int64_t i) {
      return Piece{i * run.inner, run.inner, i % run.extent, true};
    });
  }
}

// Tensors: x, scale, zero_point. Attributes: axis, block_size.
template <typename Fn>
void ForPiecesOf(KernelContext* context, const Fn& fn) {
  const DenseTensor& x = *context->Input(0);
  if (x.numel() == 0) return;
  const AxisRun run = RunAlong(x.shape(), context->AttrAt<int>(0));
  const auto block = context->AttrAt<int64_t>(1);
  ForPieces(context->device_as<CpuContext>(), run, block, block > 0 ? (run.extent + block - 1) / block : 1, fn);
}

template <typename T>
const T* ZerosOf(const KernelContext& context) {
  const DenseTensor* const zeros = context.Input(2);
  return zeros == nullptr ? nullptr : zeros->data<T>();
}

template <typename T>
void QuantizeTo(KernelContext* context) {
  const float* const x = context->Input(0)->data<float>();
  const float* const scales = context->Input(1)->data<float>();
  const T* const zeros = ZerosOf<T>(*context);
  const auto ties_away = context->AttrAt<bool>(2);
  T* const out = context->Output(0)->mutable_data<T>();
  ForPiecesOf(context, [=](const Piece& piece) {
    const T* const zero = zeros == nullptr ? nullptr : zeros + piece.scale;
    if (piece.one_scale) {
      const QuantizeStep step{scales[piece.scale], zero == nullptr ? 0 : *zero, ties_away};
      QuantizeRow(x + piece.begin, piece.count, step, out + piece.begin);
    } else {
      QuantizeEach(x + piece.begin, piece.count, scales + piece.scale, zero, ties_away, out + piece.begin);
    }
  });
}

void RunQuantize(KernelContext* context) {
  switch (context->Output(0)->dtype()) {
    case DataType::kInt8: return QuantizeTo<int8_t>(context);
    case DataType::kUInt8: return QuantizeTo<uint8_t>(context);
    case DataType::kInt16: return QuantizeTo<int16_t>(context);
    default: return QuantizeTo<uint16_t>(context);
  }
}

template <typename T>
void RunDequantize(KernelContext* context) {
  const T* const x = context->Input(0)->data<T>();
  const float* const scales = context->Input(1)->data<float>();
  const T* const zeros = ZerosOf<T>(*context);
  float* const out = context->Output(0)->mutable_data<float>();
  ForPiecesOf(context, [=](const Piece& piece) {
    const T* const zero = zeros == nullptr ? nullptr : zeros + piece.scale;
    if (piece.one_scale) {
      DequantizeRow(x + piece.begin, piece.count, scales[piece.scale], zero == nullptr ? 0 : *zero, out + piece.begin);
    } else {
      DequantizeEach(x + piece.begin, piece.count, scales + piece.scale, zero, out + piece.begin);
    }
  });
}

}  // namespace

REGISTER_KERNEL_VARIANT(quantize_linear, cpu, axis, kNative, kFloat, kNCHW).Supports(&SupportsScales).Run(&RunQuantize);
REGISTER_KERNEL_VARIANT(dequantize_linear, cpu, axis, kNative, kUInt8, kNCHW)
    .Supports(&SupportsDequantize)
    .Run(&RunDequantize<uint8_t>);
REGISTER_KERNEL_VARIANT(dequantize_linear, cpu, axis, kNative, kInt8, kNCHW)
    .Supports(&SupportsDequantize)
    .Run(&RunDequantize<int8_t>);

}  // namespace wherry::cpu
