// Shuffles of four floats at a time, with what every build's baseline has: code that only moves elements needs no body
// per instruction set.
#pragma once

#include <cstdint>
#include <cstring>

namespace wherry::cpu {

using FourFloats = float __attribute__((vector_size(16)));

inline FourFloats LoadFour(const void* from) {
  FourFloats v;
  std::memcpy(&v, from, sizeof(v));
  return v;
}
inline void StoreFour(FourFloats v, void* to) { std::memcpy(to, &v, sizeof(v)); }

// a[0], b[0], a[1], b[1], and the same of the upper halves.
inline FourFloats InterleaveLow(FourFloats a, FourFloats b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }
inline FourFloats InterleaveHigh(FourFloats a, FourFloats b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); }
// a[0], a[2], b[0], b[2].
inline FourFloats EvenOnes(FourFloats a, FourFloats b) { return __builtin_shufflevector(a, b, 0, 2, 4, 6); }

// to[r * to_stride + c] = from[c * from_stride + r] for 4 x 4 floats.
inline void Transpose4x4(const float* from, int64_t from_stride, float* to, int64_t to_stride) {
  const FourFloats a = LoadFour(from);
  const FourFloats b = LoadFour(from + from_stride);
  const FourFloats c = LoadFour(from + 2 * from_stride);
  const FourFloats d = LoadFour(from + 3 * from_stride);
  const FourFloats ab_low = InterleaveLow(a, b);
  const FourFloats cd_low = InterleaveLow(c, d);
  const FourFloats ab_high = InterleaveHigh(a, b);
  const FourFloats cd_high = InterleaveHigh(c, d);
  StoreFour(__builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5), to);
  StoreFour(__builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7), to + to_stride);
  StoreFour(__builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5), to + 2 * to_stride);
  StoreFour(__builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7), to + 3 * to_stride);
}

}  // namespace wherry::cpu
