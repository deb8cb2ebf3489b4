#include "kernels/cpu/op_epilogue.h"

namespace wherry::cpu {

Epilogue BindEpilogue(const ::wherry::Epilogue& epilogue, std::span<const DenseTensor* const> operands,
                      int64_t plain_row_stride, float factor) {
  using Kind = ::wherry::EpilogueStep::Kind;
  const auto operand = [&](const ::wherry::EpilogueStep& step) -> const DenseTensor& {
    return *operands[static_cast<size_t>(step.operand)];
  };
  Epilogue result;
  result.Factor(factor);
  for (const ::wherry::EpilogueStep& step : epilogue.steps) {
    switch (step.kind) {
      case Kind::kScale: result.Scale(operand(step).data<float>()); break;
      case Kind::kBias: result.Bias(operand(step).data<float>()); break;
      case Kind::kAdd: {
        const TensorMeta& meta = operand(step).meta();
        const bool pixels = meta.layout == DataLayout::kNHWC;
        result.Add(operand(step).data<float>(), pixels ? meta.effective_pixel_stride() : plain_row_stride);
        break;
      }
      case Kind::kAct: result.Activate({step.act, step.a, step.b}); break;
    }
  }
  return result;
}

}  // namespace wherry::cpu
