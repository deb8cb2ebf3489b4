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
  const SumOp op;
  return {op.Lanes(hn::Add(sum[0], sum[1])), op.Lanes(hn::Add(squares[0], squares[1]))};
}

// What brings a row to mean 0 and variance 1: (x - center) * scale + offset. The offset is what the rounding of the
// center left over: at a mean of 1000 deviations it is a last place of 10^-4 deviations.
struct Standard {
  float center;
  float scale;
  float offset;
};

// y = x standardised, times the gain and plus the bias of the columns.
template <bool kGain, bool kBias>
HWY_INLINE void NormalizeRow(const float* x, float* y, int64_t n, const Standard& standard, const float* gain,
                             const float* bias) {
  const FloatVec m = Set(standard.center);
  const FloatVec s = Set(standard.scale);
  const FloatVec o = Set(standard.offset);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    FloatVec v = hn::MulAdd(hn::Sub(Load(x + i), m), s, o);
    if (kGain) v = hn::Mul(v, Load(gain + i));
    if (kBias) v = hn::Add(v, Load(bias + i));
    Store(v, y + i);
  }
  if (i < n) {
    const int64_t live = n - i;
    FloatVec v = hn::MulAdd(hn::Sub(LoadN(x + i, live), m), s, o);
    if (kGain) v = hn::Mul(v, LoadN(gain + i, live));
    if (kBias) v = hn::Add(v, LoadN(bias + i, live));
    StoreN(v, y + i, live);
  }
}

// y = (x - center) * scale + offset.
HWY_INLINE void ScaleRow(const float* x, float* y, int64_t n, const Standard& standard) {
  const FloatVec m = Set(standard.center);
  const FloatVec s = Set(standard.scale);
  const FloatVec o = Set(standard.offset);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) Store(hn::MulAdd(hn::Sub(Load(x + i), m), s, o), y + i);
  if (i < n) StoreN(hn::MulAdd(hn::Sub(LoadN(x + i, n - i), m), s, o), y + i, n - i);
}

HWY_INLINE void WriteRow(const NormRows& norm, int64_t row, const Standard& standard) {
  const float* const x = norm.x + row * norm.cols;
  float* const y = norm.y + row * norm.cols;
  if (norm.affine_run > 0) {
    const int64_t runs = norm.cols / norm.affine_run;
    for (int64_t i = 0; i < runs; ++i) {
      const int64_t at = (row * runs + i) % norm.affine_count;
      const float gain = norm.gain == nullptr ? 1.0f : norm.gain[at];
      const float bias = norm.bias == nullptr ? 0.0f : norm.bias[at];
      ScaleRow(x + i * norm.affine_run, y + i * norm.affine_run, norm.affine_run,
               {standard.center, standard.scale * gain, standard.offset * gain + bias});
    }
  } else if (norm.gain != nullptr && norm.bias != nullptr) {
    NormalizeRow<true, true>(x, y, norm.cols, standard, norm.gain, norm.bias);
  } else if (norm.gain != nullptr) {
    NormalizeRow<true, false>(x, y, norm.cols, standard, norm.gain, norm.bias);
  } else if (norm.bias != nullptr) {
    NormalizeRow<false, true>(x, y, norm.cols, standard, norm.gain, norm.bias);
  } else {
    NormalizeRow<false, false>(x, y, norm.cols, standard, norm.gain, norm.bias);
  }
}

// Rows that go through each pass together: what a row waits for (sums of lanes, quotients, a root: most of the time of
// a row of 128) overlaps with the work on others, which stay in L1.
constexpr int64_t kMostTogether = 8;
HWY_INLINE int64_t RowsTogether(const NormRows& norm) {
  constexpr int64_t kFloats = 4096;
  return std::clamp<int64_t>(kFloats / std::max<int64_t>(1, norm.cols), 1, kMostTogether);
}

void LayerNormRows(const NormRows& norm, int64_t begin, int64_t end) {
  const float count = static_cast<float>(norm.cols);
  const int64_t together = RowsTogether(norm);
  for (int64_t first = begin; first < end; first += together) {
    const int64_t rows = std::min(together, end - first);
    const float* const x = norm.x + first * norm.cols;
    float centers[kMostTogether];
    Standard standards[kMostTogether];
    for (int64_t i = 0; i < rows; ++i) {
      centers[i] = ReduceMapped<SumOp>(x + i * norm.cols, norm.cols, Identity()) / count;
    }
    for (int64_t i = 0; i < rows; ++i) {
      // What the center is off the mean is the mean of what is left.
      const Moments moments = ShiftedMoments(x + i * norm.cols, norm.cols, centers[i]);
      const float correction = moments.sum / count;
      // Not std::max, which would turn NaN into 0.
      float variance = moments.sum_of_squares / count - correction * correction;
      if (variance < 0.0f) variance = 0.0f;
      const float inverse = 1.0f / std::sqrt(variance + norm.epsilon);
      if (norm.mean != nullptr) norm.mean[first + i] = centers[i] + correction;
      if (norm.variance != nullptr) norm.variance[first + i] = variance;
      if (norm.inverse_deviation != nullptr) norm.inverse_deviation[first + i] = inverse;
      standards[i] = {centers[i], inverse, -correction * inverse};
    }
    for (int64_t i = 0; i < rows; ++i) WriteRow(norm, first + i, standards[i]);
  }
}

void RmsNormRows(const NormRows& norm, int64_t begin, int64_t end) {
  const float count = static_cast<float>(norm.cols);
  const int64_t together = RowsTogether(norm);
  for (int64_t first = begin; first < end; first += together) {
    const int64_t rows = std::min(together, end - first);
    float inverses[kMostTogether];
    for (int64_t i = 0; i < rows; ++i) {
      const float* const x = norm.x + (first + i) * norm.cols;
      const float mean_square = ReduceMapped<SumOp>(x, norm.cols, Square()) / count;
      inverses[i] = 1.0f / std::sqrt(mean_square + norm.epsilon);
      if (norm.inverse_deviation != nullptr) norm.inverse_deviation[first + i] = inverses[i];
    }
    for (int64_t i = 0; i < rows; ++i) WriteRow(norm, first + i, {0.0f, inverses[i], 0.0f});
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
