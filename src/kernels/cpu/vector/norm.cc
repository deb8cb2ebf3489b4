#include "kernels/cpu/vector/norm.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/vector/norm.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/vector/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

struct Square {
  HWY_INLINE FloatVec operator()(FloatVec v) const { return hn::Mul(v, v); }
};

struct Moments {
  float sum;
  float sum_of_squares;
};

// Sums of x - shift and of its square.
HWY_INLINE Moments ShiftedMoments(const float* x, int64_t n, float shift) {
  const FloatVec s = Set(shift);
  FloatVec sum[2] = {Zero(), Zero()};
  FloatVec squares[2] = {Zero(), Zero()};
  int64_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    WHERRY_UNROLL
    for (int j = 0; j < 2; ++j) {
      const FloatVec d = hn::Sub(Load(x + i + j * kLanes), s);
      sum[j] = hn::Add(sum[j], d);
      squares[j] = hn::MulAdd(d, d, squares[j]);
    }
  }
  for (; i < n; i += kLanes) {
    const int64_t live = std::min(kLanes, n - i);
    const FloatVec d = KeepN(hn::Sub(LoadN(x + i, live), s), live);
    sum[0] = hn::Add(sum[0], d);
    squares[0] = hn::MulAdd(d, d, squares[0]);
  }
  return {ReduceLanes<SumOp>(hn::Add(sum[0], sum[1])), ReduceLanes<SumOp>(hn::Add(squares[0], squares[1]))};
}

// y = (x - mean) * scale, then the gain and bias of the columns.
template <bool kGain, bool kBias>
HWY_INLINE void NormalizeRow(const float* x, float* y, int64_t n, float mean, float scale, const float* gain,
                             const float* bias) {
  const FloatVec m = Set(mean);
  const FloatVec s = Set(scale);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    FloatVec v = hn::Mul(hn::Sub(Load(x + i), m), s);
    if (kGain) v = hn::Mul(v, Load(gain + i));
    if (kBias) v = hn::Add(v, Load(bias + i));
    Store(v, y + i);
  }
  if (i < n) {
    const int64_t live = n - i;
    FloatVec v = hn::Mul(hn::Sub(LoadN(x + i, live), m), s);
    if (kGain) v = hn::Mul(v, LoadN(gain + i, live));
    if (kBias) v = hn::Add(v, LoadN(bias + i, live));
    StoreN(v, y + i, live);
  }
}

// y = (x - mean) * scale + offset.
HWY_INLINE void ScaleRow(const float* x, float* y, int64_t n, float mean, float scale, float offset) {
  const FloatVec m = Set(mean);
  const FloatVec s = Set(scale);
  const FloatVec o = Set(offset);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) Store(hn::MulAdd(hn::Sub(Load(x + i), m), s, o), y + i);
  if (i < n) StoreN(hn::MulAdd(hn::Sub(LoadN(x + i, n - i), m), s, o), y + i, n - i);
}

HWY_INLINE void WriteRow(const NormRows& norm, int64_t row, float mean, float scale) {
  const float* const x = norm.x + row * norm.cols;
  float* const y = norm.y + row * norm.cols;
  if (norm.affine_per_row) {
    const int64_t at = row % norm.affine_rows;
    const float gain = norm.gain == nullptr ? 1.0f : norm.gain[at];
    const float bias = norm.bias == nullptr ? 0.0f : norm.bias[at];
    ScaleRow(x, y, norm.cols, mean, scale * gain, bias);
  } else if (norm.gain != nullptr && norm.bias != nullptr) {
    NormalizeRow<true, true>(x, y, norm.cols, mean, scale, norm.gain, norm.bias);
  } else if (norm.gain != nullptr) {
    NormalizeRow<true, false>(x, y, norm.cols, mean, scale, norm.gain, norm.bias);
  } else if (norm.bias != nullptr) {
    NormalizeRow<false, true>(x, y, norm.cols, mean, scale, norm.gain, norm.bias);
  } else {
    NormalizeRow<false, false>(x, y, norm.cols, mean, scale, norm.gain, norm.bias);
  }
}

void LayerNormRows(const NormRows& norm, int64_t begin, int64_t end) {
  const float count = static_cast<float>(norm.cols);
  for (int64_t r = begin; r < end; ++r) {
    const float* const x = norm.x + r * norm.cols;
    const float rough_mean = ReduceMapped<SumOp>(x, norm.cols, Identity()) / count;
    // The rounding error of the mean is the mean of what is left.
    const Moments moments = ShiftedMoments(x, norm.cols, rough_mean);
    const float correction = moments.sum / count;
    const float mean = rough_mean + correction;
    // Not std::max, which would turn NaN into 0.
    float variance = moments.sum_of_squares / count - correction * correction;
    if (variance < 0.0f) variance = 0.0f;
    const float inverse = 1.0f / std::sqrt(variance + norm.epsilon);
    if (norm.mean != nullptr) norm.mean[r] = mean;
    if (norm.variance != nullptr) norm.variance[r] = variance;
    if (norm.inverse_deviation != nullptr) norm.inverse_deviation[r] = inverse;
    WriteRow(norm, r, mean, inverse);
  }
}

void RmsNormRows(const NormRows& norm, int64_t begin, int64_t end) {
  const float count = static_cast<float>(norm.cols);
  for (int64_t r = begin; r < end; ++r) {
    const float mean_square = ReduceMapped<SumOp>(norm.x + r * norm.cols, norm.cols, Square()) / count;
    const float inverse = 1.0f / std::sqrt(mean_square + norm.epsilon);
    if (norm.inverse_deviation != nullptr) norm.inverse_deviation[r] = inverse;
    WriteRow(norm, r, 0.0f, inverse);
  }
}

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {
namespace {

void Run(const NormRows& norm, void (*rows)(const NormRows&, int64_t, int64_t), ThreadPool* pool) {
  // About 5 us a chunk at least.
  constexpr int64_t kMinElements = 32768;
  ParallelFor(pool, norm.rows, kMinElements / std::clamp<int64_t>(norm.cols, 1, kMinElements),
              [&](int64_t begin, int64_t end) { rows(norm, begin, end); });
}

}  // namespace

void LayerNorm(const NormRows& norm, ThreadPool* pool) { Run(norm, WHERRY_ISA_CALL(LayerNormRows), pool); }

void RmsNorm(const NormRows& norm, ThreadPool* pool) { Run(norm, WHERRY_ISA_CALL(RmsNormRows), pool); }

}  // namespace wherry::cpu
#endif  // HWY_ONCE
