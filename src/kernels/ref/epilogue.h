// The steps that conv2d, fused_matmul and fc apply to a result before it is stored, in double.
#pragma once

#include <cstdint>
#include <span>

#include "core/dense_tensor.h"
#include "kernels/ref/activation.h"
#include "kernels/ref/element.h"
#include "op/epilogue.h"

namespace wherry::ref {

// Borrows its arguments. Operands have the element type T; InferMeta has checked their number and shapes.
template <typename T>
class EpilogueSteps {
 public:
  EpilogueSteps(const Epilogue& epilogue, std::span<const DenseTensor* const> operands)
      : epilogue_(epilogue), operands_(operands) {}

  // The result's element `index` (row-major), which belongs to `channel`, before the steps -> after them.
  double Apply(double value, int64_t channel, int64_t index) const {
    for (const EpilogueStep& step : epilogue_.steps) {
      switch (step.kind) {
        case EpilogueStep::Kind::kScale: value *= Operand(step, channel); break;
        case EpilogueStep::Kind::kBias: value += Operand(step, channel); break;
        case EpilogueStep::Kind::kAdd: value += Operand(step, index); break;
        case EpilogueStep::Kind::kAct: value = Activate(step.act, value, step.a, step.b); break;
      }
    }
    return value;
  }

 private:
  double Operand(const EpilogueStep& step, int64_t i) const {
    return Load(operands_[static_cast<size_t>(step.operand)]->template data<T>()[i]);
  }

  const Epilogue& epilogue_;
  std::span<const DenseTensor* const> operands_;
};

}  // namespace wherry::ref
