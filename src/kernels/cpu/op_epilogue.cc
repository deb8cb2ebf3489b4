#include "kernels/cpu/op_epilogue.h"

namespace wherry::cpu {

TileEpilogue BindEpilogue(const Epilogue& epilogue, std::span<const DenseTensor* const> operands,
                          int64_t plain_row_stride, float factor) {
  using Kind = EpilogueStep::Kind;
  const auto operand = [&](const EpilogueStep& step) -> const DenseTensor& {
    return *operands[static_cast<size_t>(step.operand)];
  };
  TileEpilogue result;
  result.Factor(factor);
  for (const EpilogueStep& step : epilogue.steps) {
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
