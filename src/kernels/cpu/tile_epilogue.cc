#include "kernels/cpu/tile_epilogue.h"

#include <cstddef>
#include <limits>

#include "base/check.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/tile_epilogue.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/tile_epilogue-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

void ApplyEpilogueImpl(const TileEpilogue& epilogue, const float* tile, int64_t tile_stride, float* out,
                       int64_t out_stride, int64_t rows, int64_t cols, int64_t row0, int64_t col0) {
  ApplyEpilogueSteps(epilogue, tile, tile_stride, out, out_stride, rows, cols, row0, col0);
}

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {

TileEpilogue& TileEpilogue::Factor(float factor) {
  if (factor == 1.0f) return *this;
  Step step;
  step.kind = Step::Kind::kFactor;
  step.factor = factor;
  Append(step);
  return *this;
}

TileEpilogue& TileEpilogue::Scale(const float* per_column) {
  Step step;
  step.kind = Step::Kind::kScale;
  step.data = per_column;
  Append(step);
  return *this;
}

TileEpilogue& TileEpilogue::Bias(const float* per_column) {
  Step step;
  step.kind = Step::Kind::kBias;
  step.data = per_column;
  Append(step);
  return *this;
}

TileEpilogue& TileEpilogue::Add(const float* operand, int64_t row_stride) {
  Step step;
  step.kind = Step::Kind::kAdd;
  step.data = operand;
  step.row_stride = row_stride;
  Append(step);
  return *this;
}

TileEpilogue TileEpilogue::FromRow(int64_t row) const {
  TileEpilogue copy = *this;
  for (Step& step : copy.steps_) {
    if (step.kind == Step::Kind::kAdd) step.data += row * step.row_stride;
  }
  if (add_ != nullptr) copy.add_ += row * add_stride_;
  return copy;
}

TileEpilogue& TileEpilogue::Activate(Activation activation) {
  if (activation.kind == ActKind::kIdentity) return *this;
  Step step;
  step.kind = Step::Kind::kActivation;
  step.activation = activation;
  Append(step);
  return *this;
}

void TileEpilogue::Append(const Step& step) {
  WHERRY_CHECK(count_ < kMaxSteps, "an epilogue has at most ", kMaxSteps, " steps");
  steps_[static_cast<size_t>(count_++)] = step;
  Classify();
}

void TileEpilogue::Classify() {
  using Kind = Step::Kind;
  constexpr float kInf = std::numeric_limits<float>::infinity();
  form_ = EpilogueForm::kGeneral;
  int next = 0;
  if (step(next).kind == Kind::kBias) bias_ = step(next++).data;
  lo_ = -kInf;
  hi_ = kInf;
  const bool has_add = next < count_ && step(next).kind == Kind::kAdd;
  if (has_add) {
    add_ = step(next).data;
    add_stride_ = step(next).row_stride;
    ++next;
  }
  if (next == count_) {
    form_ = has_add ? EpilogueForm::kBiasAddClip : EpilogueForm::kBias;
    return;
  }
  if (step(next).kind != Kind::kActivation) return;
  const Activation& activation = step(next).activation;
  const bool hard_swish = activation.kind == ActKind::kHardSwish;
  if (next + 3 == count_ && hard_swish && !has_add) {
    if (step(next + 1).kind != Kind::kScale || step(next + 2).kind != Kind::kBias) return;
    last_scale_ = step(next + 1).data;
    last_bias_ = step(next + 2).data;
    form_ = EpilogueForm::kBiasHardSwishScaleBias;
    return;
  }
  if (next + 1 != count_) return;
  if (activation.kind == ActKind::kRelu || activation.kind == ActKind::kClip) {
    lo_ = activation.kind == ActKind::kRelu ? 0.0f : activation.a;
    hi_ = activation.kind == ActKind::kRelu ? kInf : activation.b;
    form_ = has_add ? EpilogueForm::kBiasAddClip : EpilogueForm::kBiasClip;
  } else if (hard_swish && !has_add) {
    form_ = EpilogueForm::kBiasHardSwish;
  } else if (activation.kind == ActKind::kSwish && activation.a == 1.0f && !has_add) {
    form_ = EpilogueForm::kBiasSwish;
  } else if (activation.kind == ActKind::kGelu && !has_add) {
    form_ = EpilogueForm::kBiasGelu;
  } else if (activation.kind == ActKind::kLeakyRelu && !has_add) {
    lo_ = activation.a;
    form_ = EpilogueForm::kBiasLeakyRelu;
  }
}

void ApplyEpilogue(const TileEpilogue& epilogue, const float* tile, int64_t tile_stride, float* out, int64_t out_stride,
                   int64_t rows, int64_t cols, int64_t row0, int64_t col0) {
  WHERRY_ISA_CALL(ApplyEpilogueImpl)(epilogue, tile, tile_stride, out, out_stride, rows, cols, row0, col0);
}

}  // namespace wherry::cpu
#endif  // HWY_ONCE
