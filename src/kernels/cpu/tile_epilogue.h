// What a matmul, fully connected or convolution kernel does to an accumulator before it is stored: a few steps,
// applied in the order in which they were added.
//
// "Column" is the output channel and "row" everything else (a GEMM row, an NHWC pixel). Common sequences have a form of
// their own that kernels apply in registers (tile_epilogue-inl.h); every other one runs over the finished tile while it
// is in L1.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/cpu/simd/activation.h"

namespace wherry::cpu {

// Each bias but that of kBias may be missing (TileEpilogue::bias()).
enum class EpilogueForm : uint8_t {
  kNone,  // store the accumulator
  kBias,
  kBiasClip,     // bias, then clamp; relu is clamp(0, inf)
  kBiasAddClip,  // bias, residual, clamp (-inf, inf if there is no activation)
  kBiasHardSwish,
  kBiasHardSwishScaleBias,  // with a scale and a bias after it: PP-OCRv4's recogniser
  kBiasSwish,               // swish(1)
  kBiasGelu,                // that of erf
  kBiasLeakyRelu,           // leaky_relu(lo)
  kGeneral,
};

// A value type without ownership: the operands must outlive the kernel call. Per-column operands are read for exactly
// the output's columns; nothing is read past an operand's end and no alignment is assumed. The added operand may be the
// output itself (same address, same stride): every kernel reads an element of it before it stores that element.
class TileEpilogue {
 public:
  struct Step {
    enum class Kind : uint8_t { kFactor, kScale, kBias, kAdd, kActivation };
    Kind kind = Kind::kBias;
    Activation activation;        // kActivation
    float factor = 1.0f;          // kFactor
    const float* data = nullptr;  // kScale, kBias: one float per column. kAdd: the operand's element (row 0, column 0)
    int64_t row_stride = 0;       // kAdd: floats from one row to the next
  };

  // Those of the attribute, and a factor.
  static constexpr int kMaxSteps = Epilogue::kMaxSteps + 1;

  TileEpilogue& Factor(float factor);  // 1 adds no step
  TileEpilogue& Scale(const float* per_column);
  TileEpilogue& Bias(const float* per_column);
  TileEpilogue& Add(const float* operand, int64_t row_stride);
  TileEpilogue& Activate(Activation activation);  // kIdentity adds no step

  // For an output that begins at this one's row `row`.
  TileEpilogue FromRow(int64_t row) const;

  int count() const { return count_; }
  const Step& step(int i) const { return steps_[static_cast<size_t>(i)]; }

  EpilogueForm form() const { return form_; }
  // Operands of the forms other than kNone and kGeneral. The first bias is null where there is none.
  const float* bias() const { return bias_; }
  const float* BiasFrom(int64_t column) const { return bias_ == nullptr ? nullptr : bias_ + column; }
  const float* add() const { return add_; }
  int64_t add_stride() const { return add_stride_; }
  float lo() const { return lo_; }
  float hi() const { return hi_; }
  const float* last_scale() const { return last_scale_; }
  const float* last_bias() const { return last_bias_; }

 private:
  void Append(const Step& step);
  void Classify();

  std::array<Step, kMaxSteps> steps_;
  int count_ = 0;
  EpilogueForm form_ = EpilogueForm::kNone;
  const float* bias_ = nullptr;
  const float* add_ = nullptr;
  int64_t add_stride_ = 0;
  float lo_ = 0.0f;
  float hi_ = 0.0f;
  const float* last_scale_ = nullptr;
  const float* last_bias_ = nullptr;
};

// Applies every step to a rows x cols tile and stores it: out = steps(tile). The tile's element (0, 0) is the output's
// (row0, col0). `tile` may be `out`, unless an added operand overlaps `out`.
void ApplyEpilogue(const TileEpilogue& epilogue, const float* tile, int64_t tile_stride, float* out, int64_t out_stride,
                   int64_t rows, int64_t cols, int64_t row0, int64_t col0);

}  // namespace wherry::cpu
