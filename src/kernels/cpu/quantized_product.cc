// quantized_conv2d on images whose channels are innermost, quantized_matmul.
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/strings.h"
#include "core/device_context.h"
#include "kernel/kernel_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/conv/conv_problem.h"
#include "kernels/cpu/gemm/layout_format.h"
#include "kernels/cpu/quantized/byte_conv.h"
#include "kernels/cpu/quantized/byte_winograd.h"
#include "op/infer/matrices.h"

namespace wherry::cpu {
namespace {

// Positions among the kernels' tensors, and from the end among the attributes.
constexpr size_t kX = 0;
constexpr size_t kWeight = 1;

ByteParameters ParametersOf(KernelContext* context) {
  ByteParameters p;
  p.scale = context->Input(2);
  p.bias = context->Input(3);
  p.x_zero = context->Input(4);
  p.weight_zero = context->Input(5);
  p.out_zero = context->Input(6);
  p.low = context->AttrAt<int>(context->attr_count() - 2);
  p.high = context->AttrAt<int>(context->attr_count() - 1);
  return p;
}

bool IsUnsigned(const TensorMeta& meta) { return meta.dtype == DataType::kUInt8; }

int64_t WholeLines(int64_t bytes) { return (bytes + 63) / 64 * 64; }

// ---- quantized_conv2d

// How factors are packed: one of these by how much of the depth lies side by side, and the name of the panels' layout;
// a filter for so many groups, a row's windows in so many segments.
constexpr std::string_view kFours = "bytes";
constexpr std::string_view kPairs = "bytes:pairs";
constexpr std::string_view kConvGroups = ":groups=";
constexpr std::string_view kConvSegments = ":segments=";
// By the stride and the dilation along a line.
constexpr std::string_view kDepthwise = "bytes:depthwise:";
constexpr std::string_view kDepthwiseBytes = "bytes:depthwise:stride=";
constexpr std::string_view kDepthwiseWords = "bytes:depthwise:words:stride=";
constexpr std::string_view kDepthwiseDilation = ":dilation=";
constexpr std::string_view kWinograd2 = "bytes:winograd2:";
constexpr std::string_view kWinograd4 = "bytes:winograd4:";

struct QuantizedConvPlan : KernelPlan {
  ConvShape shape;
  bool is_depthwise = false;
  ByteDepthwisePlan depthwise;
  std::optional<ByteWinogradPlan> winograd;
  ByteProductPlan product;
};

ByteProductShape FilterProduct(const Shape& filter, int64_t groups, int64_t segments) {
  return {0, filter[0] / groups, filter[1] * filter[2] * filter[3] / segments, segments, groups};
}

std::string FormatOf(ByteLayout layout) { return LayoutFormat(layout.depth == 4 ? kFours : kPairs, layout.panels); }

// Reads FormatOf(...) off the front of `format`; nullopt, and nothing read, if it is not there.
std::optional<ByteLayout> TakeByteLayout(std::string_view* format) {
  if (const auto panels = TakeLayout(kFours, format)) return ByteLayout{*panels, 4};
  if (const auto panels = TakeLayout(kPairs, format)) return ByteLayout{*panels, 2};
  return std::nullopt;
}

// Depth is [tap][channel], so that an image's channels are neighbours; zeros behind each segment.
void PackFilterBytes(const DenseTensor& filter, const ByteProductShape& product, ByteLayout layout, char* packed) {
  const int64_t channels = filter.shape()[1];
  const int64_t taps = filter.shape()[2] * filter.shape()[3];
  const int64_t segment_taps = taps / product.segments;
  const bool is_unsigned = IsUnsigned(filter.meta());
  const int64_t padded = PaddedDepth(product.depth);
  const bool lies_so = taps == 1 && padded == product.depth;
  std::vector<uint8_t> columns;
  if (!lies_so) columns.resize(static_cast<size_t>(product.n * product.packed_k()), is_unsigned ? 0x80 : 0);
  const auto* from = static_cast<const uint8_t*>(filter.raw_data());
  for (int64_t group = 0; group < product.groups; ++group, from += product.n * product.k()) {
    uint8_t* to = columns.data();
    for (int64_t m = 0; m < product.n && !lies_so; ++m) {
      for (int64_t segment = 0; segment < product.segments; ++segment, to += padded - product.depth) {
        for (int64_t t = segment * segment_taps; t < (segment + 1) * segment_taps; ++t, to += channels) {
          const uint8_t* const tap = from + m * channels * taps + t;
          for (int64_t c = 0; c < channels; ++c) to[c] = tap[c * taps];
        }
      }
    }
    PackBytes({lies_so ? from : columns.data(), is_unsigned, 1, product.packed_k()}, product.packed_k(), product.n,
              packed, layout);
    packed += PackedByteSize(product.packed_k(), product.n);
  }
}

// Reads a count behind `name` off the front of `text`; 0 if there is none.
int64_t TakeCount(std::string_view name, std::string_view* text) {
  int64_t count = 0;
  if (!text->starts_with(name)) return 0;
  text->remove_prefix(name.size());
  const auto read = std::from_chars(text->data(), text->data() + text->size(), count);
  text->remove_prefix(static_cast<size_t>(read.ptr - text->data()));
  return count;
}

// Of a format and the filter that it is for; Error(kInvalidArgument) if they do not fit.
std::pair<ByteProductShape, ByteLayout> FilterProduct(const TensorMeta& filter, std::string_view format) {
  std::string_view rest = format;
  const std::optional<ByteLayout> layout = TakeByteLayout(&rest);
  const int64_t groups = TakeCount(kConvGroups, &rest);
  const int64_t segments = TakeCount(kConvSegments, &rest);
  const bool is_byte = filter.dtype == DataType::kUInt8 || filter.dtype == DataType::kInt8;
  const bool fits = is_byte && filter.shape.rank() == 4 && groups > 0 && segments > 0 &&
                    filter.shape[0] % groups == 0 &&
                    (segments == filter.shape[2] || segments == filter.shape[2] * filter.shape[3]);
  WHERRY_ENFORCE(layout && fits && rest.empty(), kInvalidArgument, "a filter ", filter.DebugString(), " has no form '",
                 format, "'");
  return {FilterProduct(filter.shape, groups, segments), *layout};
}

ByteDepthwiseWindows DepthwiseWindows(const TensorMeta& filter, std::string_view format) {
  std::string_view rest = format;
  const bool words = format.starts_with(kDepthwiseWords);
  const int64_t stride = TakeCount(words ? kDepthwiseWords : kDepthwiseBytes, &rest);
  const int64_t dilation = TakeCount(kDepthwiseDilation, &rest);
  const bool is_byte = filter.dtype == DataType::kUInt8 || filter.dtype == DataType::kInt8;
  const bool fits = is_byte && filter.shape.rank() == 4 && filter.shape[1] == 1 && stride > 0 && dilation > 0;
  WHERRY_ENFORCE(fits && rest.empty(), kInvalidArgument, "a filter ", filter.DebugString(), " has no form '", format,
                 "'");
  return {filter.shape[2], filter.shape[3], stride, dilation, words};
}

bool IsWinograd(std::string_view format) { return format.starts_with(kWinograd2) || format.starts_with(kWinograd4); }

ByteWinogradFilter WinogradFilter(const TensorMeta& filter, std::string_view format) {
  std::string_view rest = format;
  const bool is_4 = format.starts_with(kWinograd4);
  const std::optional<PanelLayout> layout = TakeLayout(is_4 ? kWinograd4 : kWinograd2, &rest);
  const bool fits = filter.dtype == DataType::kInt8 && filter.shape.rank() == 4 && filter.shape[2] == 3 &&
                    filter.shape[3] == 3 && filter.shape[1] <= kMaxByteWinogradChannels;
  WHERRY_ENFORCE(layout && fits && rest.empty(), kInvalidArgument, "a filter ", filter.DebugString(), " has no form '",
                 format, "'");
  return {{filter.shape[0], filter.shape[1], 3, 3, 1}, is_4 ? WinogradSize::kF4 : WinogradSize::kF2, *layout};
}

size_t PackedFilterBytes(const TensorMeta& filter, std::string_view format) {
  if (IsWinograd(format)) return WinogradFilter(filter, format).packed_bytes();
  if (format.starts_with(kDepthwise)) return DepthwiseWindows(filter, format).PackedBytes(filter.shape[0]);
  return static_cast<size_t>(FilterProduct(filter, format).first.packed_bytes());
}

void PackFilter(const DenseTensor& filter, std::string_view format, void* packed) {
  if (IsWinograd(format)) return WinogradFilter(filter.meta(), format).Pack(filter.data<int8_t>(), packed);
  if (format.starts_with(kDepthwise)) {
    return DepthwiseWindows(filter.meta(), format)
        .Pack(static_cast<const uint8_t*>(filter.raw_data()), IsUnsigned(filter.meta()), filter.shape()[0], packed);
  }
  const auto [product, layout] = FilterProduct(filter.meta(), format);
  PackFilterBytes(filter, product, layout, static_cast<char*>(packed));
}

Support SupportsConv(const KernelProblem& problem) {
  if (!problem.Input("filter")->known()) return Support::No("needs a filter of known shape");
  return problem.IsConstant("filter") ? Support::Yes() : Support::No("needs a constant filter");
}

std::shared_ptr<const KernelPlan> PlanConv(const KernelProblem& problem) {
  auto plan = std::make_shared<QuantizedConvPlan>();
  plan->shape = ConvShapeOf(problem);
  const ConvWeightShape& weight = plan->shape.weight;
  plan->is_depthwise = weight.in_channels_per_group == 1 && weight.out_channels == weight.groups && weight.groups > 1;
  if (plan->is_depthwise) {
    plan->depthwise = ByteDepthwisePlan(plan->shape, problem.threads());
    plan->packs.push_back(
        {static_cast<int>(kWeight), StrCat(plan->depthwise.windows.words ? kDepthwiseWords : kDepthwiseBytes,
                                           plan->shape.stride_width, kDepthwiseDilation, plan->shape.dilation_width)});
    plan->scratch_bytes = plan->depthwise.scratch_bytes;
    plan->algorithm = "bytes, depthwise";
    return plan;
  }
  if (problem.Input("filter")->dtype == DataType::kInt8 && problem.Input("filter_zero") == nullptr) {
    if (const auto size = ChooseByteWinograd(plan->shape, problem.threads())) {
      plan->winograd.emplace(plan->shape, *size, problem.threads());
      const std::string_view form = *size == WinogradSize::kF4 ? kWinograd4 : kWinograd2;
      plan->packs.push_back({static_cast<int>(kWeight), LayoutFormat(form, plan->winograd->filter.layout)});
      plan->scratch_bytes = plan->winograd->scratch_bytes();
      plan->algorithm = *size == WinogradSize::kF4 ? "bytes, winograd4" : "bytes, winograd2";
      return plan;
    }
  }
  plan->product = ByteProductPlan(WindowProduct(plan->shape), problem.threads());
  plan->packs.push_back({static_cast<int>(kWeight), StrCat(FormatOf(ActiveByteLayout()), kConvGroups, weight.groups,
                                                           kConvSegments, plan->product.shape.segments)});
  plan->scratch_bytes = plan->product.scratch_bytes();
  plan->algorithm = "bytes, windows as rows";
  return plan;
}

void RunConv(KernelContext* context) {
  DenseTensor& out = *context->Output(0);
  if (out.numel() == 0) return;
  const auto& plan = context->plan<QuantizedConvPlan>();
  const CpuContext& device = context->device_as<CpuContext>();
  void* const scratch = device.Scratch(plan.scratch_bytes);
  const DenseTensor& x = *context->Input(kX);
  const DenseTensor& filter = *context->Input(kWeight);
  const ByteParameters parameters = ParametersOf(context);
  if (plan.is_depthwise) {
    return RunByteDepthwise(plan.depthwise, context->Packed(0).buffer->data(), x, filter, parameters, &out, scratch,
                            device.pool());
  }
  if (plan.winograd) {
    const void* const packed = context->Packed(0).buffer->data();
    const bool is_signed = x.dtype() == DataType::kInt8;
    const auto pad = static_cast<uint8_t>(UnsignedZero(parameters.x_zero, x.dtype()) ^ (is_signed ? 0x80 : 0));
    const ByteResult result = MakeByteWinogradResult(*plan.winograd, packed, x.dtype(), parameters, &out, scratch);
    return RunByteWinograd({*plan.winograd, packed, static_cast<const uint8_t*>(x.raw_data()), is_signed, pad, result},
                           scratch, device.pool());
  }
  const ByteWindows windows{plan.shape, plan.product.shape, static_cast<const uint8_t*>(x.raw_data()),
                            x.dtype() == DataType::kInt8,
                            static_cast<uint8_t>(UnsignedZero(parameters.x_zero, x.dtype()))};
  RunByteProduct(
      {plan.product, context->Packed(0).buffer->data(), x.dtype(), filter.dtype(), parameters, out.dtype(),
       out.mutable_raw_data(), plan.shape.out_pixel_stride},
      [&](int64_t group, int64_t row, int64_t count, const uint8_t** places, int64_t pitch, uint8_t* buffer) {
        windows.Place(group, row, count, places, pitch, buffer);
      },
      scratch, device.pool());
}

// ---- quantized_matmul

struct QuantizedMatmulPlan : KernelPlan {
  ByteProductPlan product;  // of all rows, when y has no batch axes; else of one matrix
  int64_t batch = 1;
  int64_t packed_bytes = 0;  // in front of the scratch, when y is not constant
  Matrices x;
  Matrices y;
  Shape batch_shape;
};

void PackMatrixBytes(const uint8_t* data, const TensorMeta& meta, const Matrices& view, ByteLayout layout,
                     void* packed) {
  PackBytes({data, IsUnsigned(meta), view.row_stride, view.column_stride}, view.rows, view.columns, packed, layout);
}

std::pair<Matrices, ByteLayout> ViewOfFormat(const TensorMeta& weight, std::string_view format) {
  std::string_view rest = format;
  const std::optional<ByteLayout> layout = TakeByteLayout(&rest);
  const bool is_byte = weight.dtype == DataType::kUInt8 || weight.dtype == DataType::kInt8;
  WHERRY_ENFORCE(layout && (rest == kPlainMatrix || rest == kTransposedMatrix) && is_byte && weight.shape.rank() <= 2,
                 kInvalidArgument, "a weight ", weight.DebugString(), " has no form '", format, "'");
  return {ViewMatrices(weight.shape, rest == kTransposedMatrix, false), *layout};
}

size_t PackedMatrixBytes(const TensorMeta& weight, std::string_view format) {
  const Matrices view = ViewOfFormat(weight, format).first;
  return static_cast<size_t>(PackedByteSize(view.rows, view.columns));
}

void PackMatrix(const DenseTensor& weight, std::string_view format, void* packed) {
  const auto [view, layout] = ViewOfFormat(weight.meta(), format);
  PackMatrixBytes(static_cast<const uint8_t*>(weight.raw_data()), weight.meta(), view, layout, packed);
}

std::shared_ptr<const KernelPlan> PlanMatmul(const KernelProblem& problem) {
  auto plan = std::make_shared<QuantizedMatmulPlan>();
  const bool transpose_y = problem.Attr<bool>("transpose_y");
  const Shape x = problem.Input("x")->shape();
  const Shape y = problem.Input("y")->shape();
  plan->x = ViewMatrices(x, false, true);
  plan->y = ViewMatrices(y, transpose_y, false);
  plan->batch_shape = BatchOfProduct(problem.Output().shape(), x, y);
  plan->batch = plan->batch_shape.numel();
  const bool is_shared = plan->y.batch.empty();
  const int64_t rows = is_shared ? plan->batch * plan->x.rows : plan->x.rows;
  if (is_shared) plan->batch = 1;
  plan->product = ByteProductPlan({rows, plan->y.columns, plan->y.rows}, problem.threads());
  if (is_shared && problem.IsConstant("y")) {
    const bool flips = transpose_y && y.rank() > 1;
    plan->packs.push_back(
        {static_cast<int>(kWeight), StrCat(FormatOf(ActiveByteLayout()), flips ? kTransposedMatrix : kPlainMatrix)});
  } else {
    plan->packed_bytes = WholeLines(PackedByteSize(plan->y.rows, plan->y.columns));
  }
  plan->scratch_bytes = static_cast<size_t>(plan->packed_bytes) + plan->product.scratch_bytes();
  plan->algorithm = plan->packs.empty() ? "bytes" : "bytes, packed weights";
  return plan;
}

// The number of the matrix that takes part in product `i` of the batch.
int64_t MatrixAt(const Shape& matrices, const Shape& batch, int64_t i) {
  int64_t at = 0;
  int64_t stride = 1;
  for (int back = 0; back < batch.rank(); ++back) {
    const int64_t place = i % batch[batch.rank() - 1 - back];
    i /= batch[batch.rank() - 1 - back];
    const int axis = matrices.rank() - 1 - back;
    if (axis < 0) break;
    if (matrices[axis] != 1) at += place * stride;
    stride *= matrices[axis];
  }
  return at;
}

void RunMatmul(KernelContext* context) {
  DenseTensor& out = *context->Output(0);
  if (out.numel() == 0) return;
  const auto& plan = context->plan<QuantizedMatmulPlan>();
  const CpuContext& device = context->device_as<CpuContext>();
  char* const scratch = static_cast<char*>(device.Scratch(plan.scratch_bytes));
  const DenseTensor& x = *context->Input(kX);
  const DenseTensor& y = *context->Input(kWeight);
  const auto* const left = static_cast<const uint8_t*>(x.raw_data());
  const auto* const right = static_cast<const uint8_t*>(y.raw_data());
  const uint8_t flip = x.dtype() == DataType::kInt8 ? 0x80 : 0;
  const ByteProductShape& shape = plan.product.shape;
  const int64_t k = shape.k();
  const size_t element = ByteResult::ElementBytes(ResultKindOf(out.dtype()));
  for (int64_t i = 0; i < plan.batch; ++i) {
    const void* packed = scratch;
    if (plan.packs.empty()) {
      const int64_t matrix = MatrixAt(plan.y.batch, plan.batch_shape, i);
      PackMatrixBytes(right + matrix * k * shape.n, y.meta(), plan.y, ActiveByteLayout(), scratch);
    } else {
      packed = context->Packed(0).buffer->data();
    }
    const uint8_t* const rows =
        left + (plan.y.batch.empty() ? 0 : MatrixAt(plan.x.batch, plan.batch_shape, i) * shape.rows * k);
    RunByteProduct(
        {plan.product, packed, x.dtype(), y.dtype(), ParametersOf(context), out.dtype(),
         static_cast<char*>(out.mutable_raw_data()) + static_cast<size_t>(i * shape.rows * shape.n) * element, shape.n},
        [&](int64_t, int64_t row, int64_t count, const uint8_t** places, int64_t, uint8_t* buffer) {
          for (int64_t r = row; r < row + count; ++r, ++places) {
            const uint8_t* const from = rows + r * k;
            if (flip == 0 && left + x.numel() - from >= PaddedDepth(k)) {
              *places = from;
              continue;
            }
            for (int64_t j = 0; j < k; ++j) buffer[j] = from[j] ^ flip;
            *places = buffer;
            buffer += PaddedDepth(k);
          }
        },
        scratch + plan.packed_bytes, device.pool());
  }
}

}  // namespace

REGISTER_KERNEL_VARIANT(quantized_conv2d, cpu, bytes, kNative, kUInt8, kNHWC)
    .Supports(&SupportsConv)
    .Plan(&PlanConv)
    .Pack(&PackedFilterBytes, &PackFilter)
    .Run(&RunConv)
    .PixelStrides();
REGISTER_KERNEL_VARIANT(quantized_conv2d, cpu, bytes, kNative, kInt8, kNHWC)
    .Supports(&SupportsConv)
    .Plan(&PlanConv)
    .Pack(&PackedFilterBytes, &PackFilter)
    .Run(&RunConv)
    .PixelStrides();
REGISTER_KERNEL_VARIANT(quantized_matmul, cpu, bytes, kNative, kUInt8, kNCHW)
    .Plan(&PlanMatmul)
    .Pack(&PackedMatrixBytes, &PackMatrix)
    .Run(&RunMatmul);
REGISTER_KERNEL_VARIANT(quantized_matmul, cpu, bytes, kNative, kInt8, kNCHW)
    .Plan(&PlanMatmul)
    .Pack(&PackedMatrixBytes, &PackMatrix)
    .Run(&RunMatmul);

}  // namespace wherry::cpu
