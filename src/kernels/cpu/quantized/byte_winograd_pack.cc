#include <algorithm>
#include <cstring>

#include "kernels/cpu/conv/ceil_divide.h"
#include "kernels/cpu/quantized/byte_winograd.h"

namespace wherry::cpu {
namespace {

// Sixteen columns at a time, for the compiler to make vectors of.
constexpr int64_t kColumns = kPanelStep;
using Columns = int16_t[kColumns];

// Row p: the kernel polynomial at point p of ByteWinogradTransform, times what makes all points' divisors 2, or 30.
constexpr int16_t kRows2[4][3] = {{2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}};
constexpr int16_t kRows4[6][3] = {{15, 0, 0}, {5, 5, 5}, {5, -5, 5}, {1, 2, 4}, {4, -2, 1}, {0, 0, 15}};

void AtPoint(const int16_t (&row)[3], const Columns& a, const Columns& b, const Columns& c, Columns& to) {
  for (int64_t j = 0; j < kColumns; ++j) to[j] = static_cast<int16_t>(row[0] * a[j] + row[1] * b[j] + row[2] * c[j]);
}

// taps: [3][3]; points: [kSide][kSide].
template <int kSide>
void TransformKernels(const int16_t (&rows)[kSide][3], const Columns* taps, Columns* points) {
  Columns lines[kSide][3];
  for (int p = 0; p < kSide; ++p) {
    for (int x = 0; x < 3; ++x) AtPoint(rows[p], taps[x], taps[3 + x], taps[6 + x], lines[p][x]);
  }
  for (int p = 0; p < kSide; ++p) {
    for (int q = 0; q < kSide; ++q) AtPoint(rows[q], lines[p][0], lines[p][1], lines[p][2], points[p * kSide + q]);
  }
}

}  // namespace

int64_t ByteWinogradFilter::words() const {
  return points() * depth() * CeilDivide(shape.out_channels, group_columns()) * group_columns();
}

size_t ByteWinogradFilter::packed_bytes() const {
  return static_cast<size_t>(words()) * sizeof(int16_t) +
         static_cast<size_t>(PaddedBytes64(shape.out_channels)) * sizeof(int32_t);
}

const int32_t* ByteWinogradFilter::ColumnSums(const void* packed) const {
  return reinterpret_cast<const int32_t*>(static_cast<const int16_t*>(packed) + words());
}

void ByteWinogradFilter::Pack(const int8_t* weight, void* packed) const {
  const int64_t channels = shape.in_channels_per_group;
  const int64_t width = group_columns();
  auto* const to = static_cast<int16_t*>(packed);
  auto* const sums = reinterpret_cast<int32_t*>(to + words());
  std::memset(packed, 0, packed_bytes());
  for (int64_t first = 0; first < shape.out_channels; first += kColumns) {
    const int64_t used = std::min(kColumns, shape.out_channels - first);
    int16_t* const group = to + first / width * width * points() * depth() + first % width * 2;
    for (int64_t c = 0; c < channels; ++c) {
      Columns taps[9] = {};
      for (int64_t j = 0; j < used; ++j) {
        const int8_t* const kernel = weight + ((first + j) * channels + c) * 9;
        for (int64_t tap = 0; tap < 9; ++tap) {
          taps[tap][j] = kernel[tap];
          sums[first + j] += kernel[tap];
        }
      }
      Columns at_points[36];
      size == WinogradSize::kF4 ? TransformKernels(kRows4, taps, at_points) : TransformKernels(kRows2, taps, at_points);
      for (int64_t p = 0; p < points(); ++p) {
        int16_t* const pair = group + (p * depth() + c / 2 * 2) * width + c % 2;
        for (int64_t j = 0; j < kColumns; ++j) pair[2 * j] = at_points[p][j];
      }
    }
  }
}

}  // namespace wherry::cpu
