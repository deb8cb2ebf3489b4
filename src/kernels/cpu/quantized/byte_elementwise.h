// Between numbers and their integers, sums and products of integers with different scales: rows of `count` neighbours,
// on the calling thread. Results are those of the reference kernels, bit by bit.
#pragma once

#include <cstdint>

#include "base/cpu_info.h"

namespace wherry::cpu {

// x / scale, rounded (ties to even or away from 0), plus zero, cut to T: i8, u8, i16 or u16.
struct QuantizeStep {
  float scale = 1.0F;
  int32_t zero = 0;
  bool ties_away = false;
};
template <typename T>
void QuantizeRow(const float* x, int64_t count, const QuantizeStep& step, T* out);

// (x - zero) * scale.
template <typename T>
void DequantizeRow(const T* x, int64_t count, float scale, int32_t zero, float* out);

// The same where each element has a scale and a zero point of its own; no zeros: all are 0.
template <typename T>
void QuantizeEach(const float* x, int64_t count, const float* scales, const T* zeros, bool ties_away, T* out);
template <typename T>
void DequantizeEach(const T* x, int64_t count, const float* scales, const T* zeros, float* out);

// How two factors or terms and their result count. Each input is a row of neighbours (step 1) or one element (0).
struct QuantizedPair {
  float x_scale = 1.0F;
  float y_scale = 1.0F;
  float out_scale = 1.0F;
  int32_t x_zero = 0;
  int32_t y_zero = 0;
  int32_t out_zero = 0;
  int32_t low = 0;  // within T's
  int32_t high = 0;
};
template <typename T>
void QuantizedAddRow(const T* x, int64_t x_step, const T* y, int64_t y_step, int64_t count, const QuantizedPair& pair,
                     T* out);
template <typename T>
void QuantizedMultiplyRow(const T* x, int64_t x_step, const T* y, int64_t y_step, int64_t count,
                          const QuantizedPair& pair, T* out);

// sums[i] = the sum over `rows` rows, `stride` elements apart, of their element i. Sums must stay below 2^31.
template <typename T>
void SumRows(const T* x, int64_t rows, int64_t stride, int64_t count, int32_t* sums);
// The sum of a row.
template <typename T>
int32_t SumOfRow(const T* x, int64_t count);

}  // namespace wherry::cpu
