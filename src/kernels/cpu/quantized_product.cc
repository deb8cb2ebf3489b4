// quantized_conv2d on images whose channels are innermost, quantized_matmul.
#include <charconv>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/strings.h"
#include "core/device_context.h"
#include "kernel/kernel_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/conv/conv_problem.h"
#include "kernels/cpu/quantized/byte_conv.h"
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

// How a filter is packed: for so many groups.
constexpr std::string_view kConvFormat = "bytes64:groups=";

struct QuantizedConvPlan : KernelPlan {
  ConvShape shape;
  bool is_depthwise = false;
  ByteDepthwisePlan depthwise;
  ByteProductPlan product;
};

ByteProductShape FilterProduct(const Shape& filter, int64_t groups) {
  return {0, filter[0] / groups, filter[1] * filter[2] * filter[3], groups};
}

// Depth is [tap][channel], so that an image's channels are neighbours.
void PackFilterBytes(const DenseTensor& filter, int64_t groups, char* packed) {
  const Shape& shape = filter.shape();
  const ByteProductShape product = FilterProduct(shape, groups);
  const int64_t taps = shape[2] * shape[3];
  std::vector<uint8_t> depth(static_cast<size_t>(product.n * product.k));
  const auto* from = static_cast<const uint8_t*>(filter.raw_data());
  for (int64_t group = 0; group < groups; ++group) {
    uint8_t* to = depth.data();
    for (int64_t m = 0; m < product.n; ++m, from += product.k) {
      for (int64_t t = 0; t < taps; ++t) {
        for (int64_t c = 0; c < shape[1]; ++c) *to++ = from[c * taps + t];
      }
    }
    PackBytes({depth.data(), IsUnsigned(filter.meta()), 1, product.k}, product.k, product.n, packed);
    packed += PackedByteSize(product.k, product.n);
  }
}

// Of a format and the filter that it is for; Error(kInvalidArgument) if they do not fit.
int64_t GroupsOf(const TensorMeta& filter, std::string_view format) {
  int64_t groups = 0;
  if (format.starts_with(kConvFormat)) {
    const std::string_view digits = format.substr(kConvFormat.size());
    std::from_chars(digits.data(), digits.data() + digits.size(), groups);
  }
  const bool is_byte = filter.dtype == DataType::kUInt8 || filter.dtype == DataType::kInt8;
  WHERRY_ENFORCE(groups > 0 && is_byte && filter.shape.rank() == 4 && filter.shape[0] % groups == 0, kInvalidArgument,
                 "a filter ", filter.DebugString(), " has no form '", format, "'");
  return groups;
}

size_t PackedFilterBytes(const TensorMeta& filter, std::string_view format) {
  return static_cast<size_t>(FilterProduct(filter.shape, GroupsOf(filter, format)).packed_bytes());
}

void PackFilter(const DenseTensor& filter, std::string_view format, void* packed) {
  PackFilterBytes(filter, GroupsOf(filter.meta(), format), static_cast<char*>(packed));
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
    plan->scratch_bytes = plan->depthwise.scratch_bytes;
    plan->algorithm = "bytes, depthwise";
    return plan;
  }
  plan->product = ByteProductPlan(WindowProduct(plan->shape), problem.threads());
  plan->packs.push_back({static_cast<int>(kWeight), StrCat(kConvFormat, weight.groups)});
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
    return RunByteDepthwise(plan.depthwise, x, filter, parameters, &out, scratch, device.pool());
  }
  const ConvShape& shape = plan.shape;
  const ConvWeightShape& w = shape.weight;
  const auto* const image = static_cast<const uint8_t*>(x.raw_data());
  const bool is_signed = x.dtype() == DataType::kInt8;
  // A 1x1 kernel's rows are the pixels themselves.
  const bool in_place = !is_signed && w.taps() == 1 && w.groups == 1 && shape.stride_height == 1 &&
                        shape.stride_width == 1 && w.in_channels_per_group % 4 == 0 && shape.pad_top == 0 &&
                        shape.pad_bottom == 0 && shape.pad_left == 0 && shape.pad_right == 0;
  const ByteWindows windows{shape, image, is_signed, static_cast<uint8_t>(UnsignedZero(parameters.x_zero, x.dtype()))};
  RunByteProduct(
      {plan.product, in_place ? ByteRowsInPlace{image, shape.in_pixel_stride} : ByteRowsInPlace{},
       context->Packed(0).buffer->data(), x.dtype(), filter.dtype(), parameters, out.dtype(), out.mutable_raw_data(),
       shape.out_pixel_stride},
      [&](int64_t group, int64_t row, int64_t count, uint8_t* to, int64_t stride) {
        windows.Fill(group, row, count, to, stride);
      },
      scratch, device.pool());
}

// ---- quantized_matmul

constexpr std::string_view kPlainFormat = "bytes64";
constexpr std::string_view kTransposedFormat = "bytes64:t";

struct QuantizedMatmulPlan : KernelPlan {
  ByteProductPlan product;  // of all rows, when y has no batch axes; else of one matrix
  int64_t batch = 1;
  int64_t packed_bytes = 0;  // in front of the scratch, when y is not constant
  Matrices x;
  Matrices y;
  Shape batch_shape;
};

void PackMatrixBytes(const uint8_t* data, const TensorMeta& meta, const Matrices& view, void* packed) {
  PackBytes({data, IsUnsigned(meta), view.row_stride, view.column_stride}, view.rows, view.columns, packed);
}

Matrices ViewOfFormat(const TensorMeta& weight, std::string_view format) {
  const bool is_byte = weight.dtype == DataType::kUInt8 || weight.dtype == DataType::kInt8;
  WHERRY_ENFORCE((format == kPlainFormat || format == kTransposedFormat) && is_byte && weight.shape.rank() <= 2,
                 kInvalidArgument, "a weight ", weight.DebugString(), " has no form '", format, "'");
  return ViewMatrices(weight.shape, format == kTransposedFormat, false);
}

size_t PackedMatrixBytes(const TensorMeta& weight, std::string_view format) {
  const Matrices view = ViewOfFormat(weight, format);
  return static_cast<size_t>(PackedByteSize(view.rows, view.columns));
}

void PackMatrix(const DenseTensor& weight, std::string_view format, void* packed) {
  PackMatrixBytes(static_cast<const uint8_t*>(weight.raw_data()), weight.meta(), ViewOfFormat(weight.meta(), format),
                  packed);
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
  plan->product = ByteProductPlan({rows, plan->y.columns, plan->y.rows, 1}, problem.threads());
  if (is_shared && problem.IsConstant("y")) {
    const bool flips = transpose_y && y.rank() > 1;
    plan->packs.push_back({static_cast<int>(kWeight), std::string(flips ? kTransposedFormat : kPlainFormat)});
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
  const bool is_signed = x.dtype() == DataType::kInt8;
  const ByteProductShape& shape = plan.product.shape;
  const size_t element = ByteResult::ElementBytes(ResultKindOf(out.dtype()));
  for (int64_t i = 0; i < plan.batch; ++i) {
    const void* packed = scratch;
    if (plan.packs.empty()) {
      const int64_t matrix = MatrixAt(plan.y.batch, plan.batch_shape, i);
      PackMatrixBytes(right + matrix * shape.k * shape.n, y.meta(), plan.y, scratch);
    } else {
      packed = context->Packed(0).buffer->data();
    }
    const uint8_t* const rows =
        left + (plan.y.batch.empty() ? 0 : MatrixAt(plan.x.batch, plan.batch_shape, i) * shape.rows * shape.k);
    const bool in_place = !is_signed && shape.k % 4 == 0;
    RunByteProduct(
        {plan.product, in_place ? ByteRowsInPlace{rows, shape.k} : ByteRowsInPlace{}, packed, x.dtype(), y.dtype(),
         ParametersOf(context), out.dtype(),
         static_cast<char*>(out.mutable_raw_data()) + static_cast<size_t>(i * shape.rows * shape.n) * element, shape.n},
        [&](int64_t, int64_t row, int64_t count, uint8_t* to, int64_t stride) {
          const uint8_t flip = is_signed ? 0x80 : 0;
          for (int64_t r = row; r < row + count; ++r, to += stride) {
            for (int64_t k = 0; k < shape.k; ++k) to[k] = rows[r * shape.k + k] ^ flip;
          }
        },
        scratch + plan.packed_bytes, device.pool());
  }
}

}  // namespace

REGISTER_KERNEL_VARIANT(quantized_conv2d, cpu, bytes, kX86, kUInt8, kNHWC)
    .Supports(&SupportsConv)
    .Plan(&PlanConv)
    .Pack(&PackedFilterBytes, &PackFilter)
    .Run(&RunConv);
REGISTER_KERNEL_VARIANT(quantized_conv2d, cpu, bytes, kX86, kInt8, kNHWC)
    .Supports(&SupportsConv)
    .Plan(&PlanConv)
    .Pack(&PackedFilterBytes, &PackFilter)
    .Run(&RunConv);
REGISTER_KERNEL_VARIANT(quantized_matmul, cpu, bytes, kX86, kUInt8, kNCHW)
    .Plan(&PlanMatmul)
    .Pack(&PackedMatrixBytes, &PackMatrix)
    .Run(&RunMatmul);
REGISTER_KERNEL_VARIANT(quantized_matmul, cpu, bytes, kX86, kInt8, kNCHW)
    .Plan(&PlanMatmul)
    .Pack(&PackedMatrixBytes, &PackMatrix)
    .Run(&RunMatmul);

}  // namespace wherry::cpu
