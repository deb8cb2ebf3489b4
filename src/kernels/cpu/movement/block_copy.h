// Copies of a few rows of elements between any strides: what transposes, joins, repetitions and broadcasts are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace wherry::cpu {

// Element (r, c) lies at r * from_row + c * from_col, and goes to r * to_row + c. The strides of the source may be 0 or
// negative; rows of the target do not overlap.
struct BlockShape {
  int64_t rows;
  int64_t cols;
  int64_t from_row;
  int64_t from_col;
  int64_t to_row;
};

// For elements of 1, 2, 4, 8 or 16 bytes, which no alignment is assumed of. The memory does not overlap.
using BlockCopy = void (*)(const BlockShape& shape, const void* from, void* to);
BlockCopy BlockCopyOf(size_t element_size);

// One dimension of a box of elements. Strides count elements; along the innermost the target's is 1.
struct BoxDim {
  int64_t count;
  int64_t from;
  int64_t to;
};

// The same for at least one dimension, outermost first. `copy` is that of the element size.
void CopyBox(std::span<const BoxDim> dims, const char* from, char* to, size_t element_size, BlockCopy copy);

}  // namespace wherry::cpu
