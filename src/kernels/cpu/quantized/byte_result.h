// What becomes of the sums of a product of integers: the kernels of quantised operators share it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wherry::cpu {

enum class ResultKind : uint8_t { kInt32, kFloat, kInt8, kUInt8 };

// A sum of the column c becomes s = sum + offsets[c] (- weight_zeros[c] times its row's sum, where those are given), an
// i32 that wraps; then, by kind: s itself; float(s) * scales[c]; or that rounded to the nearest, ties to even, within
// [least, most] first (NaN is the least), plus zero. A value; borrows its arrays, which hold whole vectors (up to a
// multiple of 64 columns).
struct ByteResult {
  ResultKind kind = ResultKind::kInt32;
  void* data = nullptr;
  int64_t stride = 0;  // elements from one row to the next
  const int32_t* offsets = nullptr;
  const float* scales = nullptr;
  const int32_t* weight_zeros = nullptr;
  float least = 0.0F;
  float most = 0.0F;
  int32_t zero = 0;

  static size_t ElementBytes(ResultKind kind) {
    return kind == ResultKind::kInt8 || kind == ResultKind::kUInt8 ? 1 : 4;
  }
  // The same from column `column` of the result on, whose parameters begin at `parameter`.
  ByteResult From(int64_t column, int64_t parameter) const {
    ByteResult part = *this;
    part.data = static_cast<char*>(data) + static_cast<size_t>(column) * ElementBytes(kind);
    part.offsets += parameter;
    if (scales != nullptr) part.scales += parameter;
    if (weight_zeros != nullptr) part.weight_zeros += parameter;
    return part;
  }
};

}  // namespace wherry::cpu
