#include "kernels/cpu/op_epilogue.h"

#include <optional>

#include "base/check.h"

namespace wherry::cpu {
namespace {

std::optional<ActivationKind> ActivationKindOf(ActKind kind) {
  switch (kind) {
    case ActKind::kIdentity: return ActivationKind::kNone;
    case ActKind::kRelu: return ActivationKind::kRelu;
    case ActKind::kClip: return ActivationKind::kClip;
    case ActKind::kLeakyRelu: return ActivationKind::kLeakyRelu;
    case ActKind::kElu: return ActivationKind::kElu;
    case ActKind::kSigmoid: return ActivationKind::kSigmoid;
    case ActKind::kTanh: return ActivationKind::kTanh;
    case ActKind::kHardSigmoid: return ActivationKind::kHardSigmoid;
    case ActKind::kHardSwish: return ActivationKind::kHardSwish;
    case ActKind::kSwish: return ActivationKind::kSwish;
    case ActKind::kGelu: return ActivationKind::kGelu;
    case ActKind::kGeluTanh: return ActivationKind::kGeluTanh;
    default: return std::nullopt;
  }
}

}  // namespace

Support SupportsEpilogue(const ::wherry::Epilogue& epilogue) {
  if (epilogue.steps.size() > static_cast<size_t>(Epilogue::kMaxSteps)) {
    return Support::No(
        StrCat("applies at most ", Epilogue::kMaxSteps, " steps after the product, got ", epilogue.steps.size()));
  }
  for (const ::wherry::EpilogueStep& step : epilogue.steps) {
    if (step.kind == ::wherry::EpilogueStep::Kind::kAct && !ActivationKindOf(step.act)) {
      return Support::No(StrCat("cannot fuse the activation ", ToString(step.act)));
    }
  }
  return Support::Yes();
}

Epilogue BindEpilogue(const ::wherry::Epilogue& epilogue, std::span<const DenseTensor* const> operands,
                      int64_t plain_row_stride) {
  using Kind = ::wherry::EpilogueStep::Kind;
  Epilogue result;
  for (const ::wherry::EpilogueStep& step : epilogue.steps) {
    if (step.kind == Kind::kAct) {
      result.Activate({*ActivationKindOf(step.act), step.a, step.b});
      continue;
    }
    const DenseTensor& operand = *operands[static_cast<size_t>(step.operand)];
    const float* data = operand.data<float>();
    switch (step.kind) {
      case Kind::kScale: result.Scale(data); break;
      case Kind::kBias: result.Bias(data); break;
      default: {
        const bool pixels = operand.layout() == DataLayout::kNHWC;
        result.Add(data, pixels ? operand.meta().effective_pixel_stride() : plain_row_stride);
      }
    }
  }
  return result;
}

}  // namespace wherry::cpu
