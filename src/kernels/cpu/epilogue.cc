#include "kernels/cpu/epilogue.h"

#include <cstddef>
#include <limits>

#include "base/check.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/epilogue.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/simd/activation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

// The step operations: each maps a vector at (row, col) to a vector. `n` is the number of live lanes.
struct ScaleRow {
  const float* data;
  HWY_INLINE FloatVec operator()(FloatVec v, int64_t col) const { return hn::Mul(v, Load(data + col)); }
  HWY_INLINE FloatVec Tail(FloatVec v, int64_t col, int64_t n) const { return hn::Mul(v, LoadN(data + col, n)); }
};

struct FactorRow {
  FloatVec factor;
  HWY_INLINE FloatVec operator()(FloatVec v, int64_t) const { return hn::Mul(v, factor); }
  HWY_INLINE FloatVec Tail(FloatVec v, int64_t, int64_t) const { return hn::Mul(v, factor); }
};

struct AddRow {
  const float* data;
  HWY_INLINE FloatVec operator()(FloatVec v, int64_t col) const { return hn::Add(v, Load(data + col)); }
  HWY_INLINE FloatVec Tail(FloatVec v, int64_t col, int64_t n) const { return hn::Add(v, LoadN(data + col, n)); }
};

template <ActKind kKind>
struct ActivateRow {
  FloatVec a, b;
  HWY_INLINE FloatVec operator()(FloatVec v, int64_t) const { return Activate<kKind>(v, a, b); }
  HWY_INLINE FloatVec Tail(FloatVec v, int64_t, int64_t) const { return Activate<kKind>(v, a, b); }
};

template <class Op>
HWY_INLINE void RunRow(const Op& op, const float* in, float* out, int64_t cols) {
  int64_t c = 0;
  for (; c + kLanes <= cols; c += kLanes) Store(op(Load(in + c), c), out + c);
  if (c < cols) StoreN(op.Tail(LoadN(in + c, cols - c), c, cols - c), out + c, cols - c);
}

struct ActivationRow {
  const Activation& activation;
  const float* in;
  float* out;
  int64_t cols;
  template <ActKind kKind>
  HWY_INLINE void Run() const {
    RunRow(ActivateRow<kKind>{Set(activation.a), Set(activation.b)}, in, out, cols);
  }
};

void ApplyEpilogueImpl(const Epilogue& epilogue, const float* tile, int64_t tile_stride, float* out, int64_t out_stride,
                       int64_t rows, int64_t cols, int64_t row0, int64_t col0) {
  // A row is at most a panel or a channel block wide, so it stays in L1 between the steps. Intermediate results go to a
  // buffer, not to `out`, which may be the operand of a later step.
  constexpr int64_t kChunk = 256;
  HWY_ALIGN float buffer[kChunk];
  const int count = epilogue.count();
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c0 = 0; c0 < cols; c0 += kChunk) {
      const int64_t n = cols - c0 < kChunk ? cols - c0 : kChunk;
      const float* in = tile + r * tile_stride + c0;
      float* const row_out = out + r * out_stride + c0;
      if (count == 0) {
        RunRow(ActivateRow<ActKind::kIdentity>{Zero(), Zero()}, in, row_out, n);
      }
      for (int i = 0; i < count; ++i) {
        const EpilogueStep& step = epilogue.step(i);
        float* const target = i + 1 == count ? row_out : buffer;
        switch (step.kind) {
          case EpilogueStep::Kind::kFactor: RunRow(FactorRow{Set(step.factor)}, in, target, n); break;
          case EpilogueStep::Kind::kScale: RunRow(ScaleRow{step.data + col0 + c0}, in, target, n); break;
          case EpilogueStep::Kind::kBias: RunRow(AddRow{step.data + col0 + c0}, in, target, n); break;
          case EpilogueStep::Kind::kAdd:
            RunRow(AddRow{step.data + (row0 + r) * step.row_stride + col0 + c0}, in, target, n);
            break;
          case EpilogueStep::Kind::kActivation:
            WithActivation(step.activation.kind, ActivationRow{step.activation, in, target, n});
            break;
        }
        in = target;
      }
    }
  }
}

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {

Epilogue& Epilogue::Factor(float factor) {
  if (factor == 1.0f) return *this;
  EpilogueStep step;
  step.kind = EpilogueStep::Kind::kFactor;
  step.factor = factor;
  Append(step);
  return *this;
}

Epilogue& Epilogue::Scale(const float* per_column) {
  EpilogueStep step;
  step.kind = EpilogueStep::Kind::kScale;
  step.data = per_column;
  Append(step);
  return *this;
}

Epilogue& Epilogue::Bias(const float* per_column) {
  EpilogueStep step;
  step.kind = EpilogueStep::Kind::kBias;
  step.data = per_column;
  Append(step);
  return *this;
}

Epilogue& Epilogue::Add(const float* operand, int64_t row_stride) {
  EpilogueStep step;
  step.kind = EpilogueStep::Kind::kAdd;
  step.data = operand;
  step.row_stride = row_stride;
  Append(step);
  return *this;
}

Epilogue& Epilogue::Activate(Activation activation) {
  if (activation.kind == ActKind::kIdentity) return *this;
  EpilogueStep step;
  step.kind = EpilogueStep::Kind::kActivation;
  step.activation = activation;
  Append(step);
  return *this;
}

void Epilogue::Append(const EpilogueStep& step) {
  WHERRY_CHECK(count_ < kMaxSteps, "an epilogue has at most ", kMaxSteps, " steps");
  steps_[static_cast<size_t>(count_++)] = step;
  Classify();
}

void Epilogue::Classify() {
  using Kind = EpilogueStep::Kind;
  constexpr float kInf = std::numeric_limits<float>::infinity();
  form_ = EpilogueForm::kGeneral;
  if (count_ == 0 || step(0).kind != Kind::kBias) return;
  bias_ = step(0).data;
  lo_ = -kInf;
  hi_ = kInf;
  int next = 1;
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
  if (next + 1 != count_ || step(next).kind != Kind::kActivation) return;
  const Activation& activation = step(next).activation;
  if (activation.kind == ActKind::kRelu || activation.kind == ActKind::kClip) {
    lo_ = activation.kind == ActKind::kRelu ? 0.0f : activation.a;
    hi_ = activation.kind == ActKind::kRelu ? kInf : activation.b;
    form_ = has_add ? EpilogueForm::kBiasAddClip : EpilogueForm::kBiasClip;
  } else if (activation.kind == ActKind::kHardSwish && !has_add) {
    form_ = EpilogueForm::kBiasHardSwish;
  }
}

void ApplyEpilogue(const Epilogue& epilogue, const float* tile, int64_t tile_stride, float* out, int64_t out_stride,
                   int64_t rows, int64_t cols, int64_t row0, int64_t col0) {
  WHERRY_ISA_CALL(ApplyEpilogueImpl)(epilogue, tile, tile_stride, out, out_stride, rows, cols, row0, col0);
}

}  // namespace wherry::cpu
#endif  // HWY_ONCE
