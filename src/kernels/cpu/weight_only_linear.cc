// weight_only_linear: rows in f32 by constant weights of 16, 8 or 4 bits; rows and weights of bf16.
#include <memory>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/strings.h"
#include "core/device_context.h"
#include "kernel/kernel_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/gemm/bf16_gemm.h"
#include "kernels/cpu/gemm/word_gemm.h"
#include "kernels/cpu/op_epilogue.h"

namespace wherry::cpu {
namespace {

// Positions among the kernel's tensors.
constexpr size_t kX = 0;
constexpr int kWeight = 1;
constexpr int kScale = 2;
constexpr int kZero = 3;
constexpr size_t kOperands = 4;

// How the weight is packed, its scales, and its zero points, which depend on the integers' bits where these are u8.
constexpr std::string_view kScaleFormat = "columns64";
constexpr std::string_view kBits[] = {":bits=4", ":bits=8", ":bits=16"};
constexpr std::string_view kWordFormat = "words64";
constexpr std::string_view kHalfFormat = "halves64";  // of f16

struct WeightOnlyPlan : KernelPlan {
  WordGemm gemm;  // without pointers
};

// The bits that a format ends with.
int BitsOf(const TensorMeta& weight, std::string_view name, std::string_view format) {
  const std::string_view rest = format.substr(std::min(name.size(), format.size()));
  const bool is_byte = weight.dtype == DataType::kInt8 || weight.dtype == DataType::kUInt8;
  const bool fits = format.starts_with(name) && weight.shape.rank() <= 2 && !weight.shape.empty() &&
                    (is_byte ? rest == kBits[0] || rest == kBits[1] : rest == kBits[2]);
  WHERRY_ENFORCE(fits, kInvalidArgument, "a weight ", weight.DebugString(), " has no form '", format, "'");
  return rest == kBits[0] ? 4 : rest == kBits[1] ? 8 : 16;
}

int64_t RowBytes(const TensorMeta& weight) { return weight.shape.back() * static_cast<int64_t>(SizeOf(weight.dtype)); }

// Of scales or zero points [columns] or [columns, groups].
int64_t PanelElements(const TensorMeta& parameter) {
  const int64_t groups = parameter.shape.rank() == 1 ? 1 : parameter.shape.back();
  return PackedFloats(groups, parameter.shape[0]);
}

void CheckHalves(const TensorMeta& weight) {
  WHERRY_ENFORCE(weight.dtype == DataType::kFP16 && weight.shape.rank() == 2, kInvalidArgument, "a weight ",
                 weight.DebugString(), " has no form '", kHalfFormat, "'");
}

size_t PackedBytes(const TensorMeta& weight, std::string_view format) {
  if (format == kScaleFormat) return static_cast<size_t>(PanelElements(weight)) * sizeof(float);
  if (format.starts_with(kScaleFormat)) {
    BitsOf(weight, kScaleFormat, format);
    return static_cast<size_t>(PanelElements(weight)) * sizeof(int16_t);
  }
  if (format == kHalfFormat) {
    CheckHalves(weight);
  } else {
    BitsOf(weight, kWordFormat, format);
  }
  return static_cast<size_t>(PackedWords(RowBytes(weight), weight.shape[0])) * sizeof(uint32_t);
}

// Unsigned integers become signed ones less half of their range.
void PackZeros(const DenseTensor& zeros, int bits, int16_t* packed) {
  const int64_t columns = zeros.shape()[0];
  const int64_t groups = zeros.shape().rank() == 1 ? 1 : zeros.shape().back();
  const bool is_signed = zeros.dtype() == DataType::kInt8;
  const auto* const from = static_cast<const uint8_t*>(zeros.raw_data());
  for (int64_t panel = 0; panel * kPanelWidth < columns; ++panel) {
    for (int64_t group = 0; group < groups; ++group) {
      for (int64_t j = 0; j < kPanelWidth; ++j) {
        const int64_t column = panel * kPanelWidth + j;
        int value = 0;
        if (column < columns) {
          const uint8_t byte = from[column * groups + group];
          value = is_signed ? static_cast<int8_t>(byte) : byte - (1 << (bits - 1));
        }
        *packed++ = static_cast<int16_t>(value);
      }
    }
  }
}

void Pack(const DenseTensor& weight, std::string_view format, void* packed) {
  if (format == kScaleFormat) {
    const int64_t groups = weight.shape().rank() == 1 ? 1 : weight.shape().back();
    return PackB({weight.data<float>(), 1, groups}, groups, weight.shape()[0], static_cast<float*>(packed), nullptr);
  }
  if (format.starts_with(kScaleFormat)) {
    return PackZeros(weight, BitsOf(weight.meta(), kScaleFormat, format), static_cast<int16_t*>(packed));
  }
  if (format == kHalfFormat) {
    CheckHalves(weight.meta());
    return PackHalves(static_cast<const uint16_t*>(weight.raw_data()), weight.shape()[1], weight.shape()[0],
                      static_cast<uint16_t*>(packed));
  }
  const int bits = BitsOf(weight.meta(), kWordFormat, format);
  const uint32_t flip = weight.dtype() != DataType::kUInt8 ? 0 : bits == 4 ? 0x88888888 : 0x80808080;
  PackWords(weight.raw_data(), RowBytes(weight.meta()), weight.shape()[0], flip, static_cast<uint32_t*>(packed));
}

// What the words of a weight hold, whose integers are of so many bits.
WordType TypeOf(DataType weight, int bits) {
  switch (weight) {
    case DataType::kFP16: return WordType::kFloat16;
    case DataType::kBF16: return WordType::kBFloat16;
    default: return bits == 4 ? WordType::kInt4 : WordType::kInt8;
  }
}

Support Supports(const KernelProblem& problem) {
  for (const char* arg : {"weight", "weight_scale", "zero_point"}) {
    const MetaTensor* const tensor = problem.Input(arg);
    if (tensor != nullptr && !(tensor->known() && problem.IsConstant(arg))) {
      return Support::No(StrCat("needs a constant ", arg));
    }
  }
  const MetaTensor& weight = *problem.Input("weight");
  const MetaTensor* const scale = problem.Input("weight_scale");
  const bool is_half = weight.dtype == DataType::kBF16 || weight.dtype == DataType::kFP16;
  if (scale == nullptr ? !is_half : scale->dtype != DataType::kFloat) {
    return Support::No("needs a weight of bf16 or f16, or of integers with f32 scales");
  }
  const int values = WordValues(TypeOf(weight.dtype, problem.Attr<int>("bits")));
  const auto group_size = problem.Attr<int64_t>("group_size");
  if (group_size > 0 && group_size % values != 0) {
    return Support::No(StrCat("needs groups of a multiple of ", values, " integers"));
  }
  return Support::Yes();
}

// Of a WordGemm or a Bf16Gemm.
template <class Gemm>
void SetSizes(const KernelProblem& problem, Gemm* gemm) {
  const TensorMeta weight = problem.Input("weight")->tensor_meta();
  const Shape x = problem.Input("x")->shape();
  gemm->k = x.back();
  gemm->n = weight.shape[0];
  gemm->m = x.numel(0, x.rank() - 1);
  gemm->row_words = PackedWords(RowBytes(weight), 1) / kPanelWidth;
}

std::shared_ptr<const KernelPlan> Plan(const KernelProblem& problem) {
  auto plan = std::make_shared<WeightOnlyPlan>();
  WordGemm& gemm = plan->gemm;
  SetSizes(problem, &gemm);
  gemm.a_stride = gemm.k;
  gemm.c_stride = gemm.n;
  const DataType dtype = problem.Input("weight")->dtype;
  gemm.type = TypeOf(dtype, problem.Attr<int>("bits"));
  if (const auto size = problem.Attr<int64_t>("group_size"); size > 0) {
    gemm.group_size = size;
    gemm.groups = problem.Input("weight_scale")->shape().back();
  }
  const std::string_view bits = kBits[WordBits(gemm.type) / 8];
  plan->packs.push_back(
      {kWeight, gemm.type == WordType::kFloat16 ? std::string(kHalfFormat) : StrCat(kWordFormat, bits)});
  if (problem.Input("weight_scale") != nullptr) plan->packs.push_back({kScale, std::string(kScaleFormat)});
  if (problem.Input("zero_point") != nullptr) plan->packs.push_back({kZero, StrCat(kScaleFormat, bits)});
  plan->scratch_bytes = WordGemmScratchBytes(gemm, problem.threads());
  const bool is_float = WordBits(gemm.type) == 16;
  plan->algorithm = is_float ? StrCat("gemm, weights of ", ToString(dtype))
                             : StrCat("gemm, weights of ", WordBits(gemm.type), " bits");
  return plan;
}

// Attributes: bits, group_size, epilogue, out_dtype.
void Run(KernelContext* context) {
  const auto& plan = context->plan<WeightOnlyPlan>();
  DenseTensor& out = *context->Output(0);
  const TileEpilogue epilogue = BindEpilogue(context->AttrAt<Epilogue>(2), context->InputAt(kOperands), plan.gemm.n);
  const auto packed = [&](size_t i) { return context->Packed(i).buffer->data(); };
  const CpuContext& device = context->device_as<CpuContext>();
  WordGemm gemm = plan.gemm;
  gemm.a = context->Input(kX)->data<float>();
  gemm.words = static_cast<const uint32_t*>(packed(0));
  if (context->packed_count() > 1) gemm.scales = static_cast<const float*>(packed(1));
  if (context->packed_count() > 2) gemm.zeros = static_cast<const int16_t*>(packed(2));
  gemm.c = out.mutable_data<float>();
  gemm.epilogue = &epilogue;
  RunWordGemm(gemm, device.Scratch(plan.scratch_bytes), device.pool());
}

// ---- Rows of bf16

struct Bf16Plan : KernelPlan {
  Bf16Gemm gemm;  // without pointers
  Bf16Method method;
};

Support SupportsBf16(const KernelProblem& problem) {
  const MetaTensor& weight = *problem.Input("weight");
  if (!weight.known() || !problem.IsConstant("weight")) return Support::No("needs a constant weight");
  if (weight.dtype != DataType::kBF16) return Support::No("needs a weight of bf16");
  if (problem.Output().dtype != DataType::kFloat) return Support::No("gives f32");
  return Support::Yes();
}

const char* AlgorithmOf(Bf16Method method) {
  switch (method) {
    case Bf16Method::kTiles: return "gemm of bf16, AMX";
    case Bf16Method::kDots: return "gemm of bf16, AVX512-BF16";
    case Bf16Method::kWords: return "gemm of bf16 as f32";
  }
  return "";
}

std::shared_ptr<const KernelPlan> PlanBf16(const KernelProblem& problem) {
  auto plan = std::make_shared<Bf16Plan>();
  Bf16Gemm& gemm = plan->gemm;
  SetSizes(problem, &gemm);
  plan->method = PickBf16Method(gemm.m);
  plan->packs.push_back({kWeight, StrCat(kWordFormat, kBits[2])});
  plan->scratch_bytes = Bf16ScratchBytes(gemm, plan->method, problem.threads());
  plan->algorithm = AlgorithmOf(plan->method);
  return plan;
}

void RunBf16(KernelContext* context) {
  const auto& plan = context->plan<Bf16Plan>();
  DenseTensor& out = *context->Output(0);
  const TileEpilogue epilogue = BindEpilogue(context->AttrAt<Epilogue>(2), context->InputAt(kOperands), plan.gemm.n);
  const CpuContext& device = context->device_as<CpuContext>();
  Bf16Gemm gemm = plan.gemm;
  gemm.a = context->Input(kX)->data<BFloat16>();
  gemm.words = static_cast<const uint32_t*>(context->Packed(0).buffer->data());
  gemm.c = out.mutable_data<float>();
  gemm.epilogue = &epilogue;
  RunBf16Gemm(gemm, plan.method, device.Scratch(plan.scratch_bytes), device.pool());
}

}  // namespace

REGISTER_KERNEL_VARIANT(weight_only_linear, cpu, bf16, kNative, kBF16, kNCHW)
    .Supports(&SupportsBf16)
    .Plan(&PlanBf16)
    .Pack(&PackedBytes, &Pack)
    .Run(&RunBf16);

REGISTER_KERNEL_VARIANT(weight_only_linear, cpu, words, kNative, kFloat, kNCHW)
    .Supports(&Supports)
    .Plan(&Plan)
    .Pack(&PackedBytes, &Pack)
    .Run(&Run);

}  // namespace wherry::cpu
