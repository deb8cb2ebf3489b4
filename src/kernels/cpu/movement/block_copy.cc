#include "kernels/cpu/movement/block_copy.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "kernels/cpu/simd/four_floats.h"

namespace wherry::cpu {
namespace {

struct Bytes16 {
  uint64_t low, high;
};

// Some bytes that are moved by one instruction.
template <size_t kBytes>
struct Chunk {
  unsigned char bytes[kBytes];
};

template <size_t kBytes>
inline Chunk<kBytes> LoadChunk(const void* from) {
  Chunk<kBytes> chunk;
  std::memcpy(&chunk, from, kBytes);
  return chunk;
}

template <size_t kBytes>
inline void StoreChunk(const Chunk<kBytes>& chunk, void* to) {
  std::memcpy(to, &chunk, kBytes);
}

// Rows of `bytes`, at least kBytes: the last chunk of a row overlaps the one before.
template <size_t kBytes>
void CopyShortRows(const char* from, int64_t from_row, char* to, int64_t to_row, int64_t rows, int64_t bytes) {
  constexpr auto kStep = static_cast<int64_t>(kBytes);
  for (; rows > 0; --rows, from += from_row, to += to_row) {
    for (int64_t i = 0; i + kStep < bytes; i += kStep) StoreChunk(LoadChunk<kBytes>(from + i), to + i);
    StoreChunk(LoadChunk<kBytes>(from + bytes - kStep), to + bytes - kStep);
  }
}

// Rows that lie in one piece each.
void CopyRows(const char* from, int64_t from_row, char* to, int64_t to_row, int64_t rows, int64_t bytes) {
  if (from_row == bytes && to_row == bytes) {
    std::memcpy(to, from, static_cast<size_t>(rows * bytes));
  } else if (bytes >= 128) {
    for (; rows > 0; --rows, from += from_row, to += to_row) std::memcpy(to, from, static_cast<size_t>(bytes));
  } else if (bytes >= 16) {  // shorter ones are faster than a call
    CopyShortRows<16>(from, from_row, to, to_row, rows, bytes);
  } else if (bytes >= 8) {
    CopyShortRows<8>(from, from_row, to, to_row, rows, bytes);
  } else if (bytes >= 4) {
    CopyShortRows<4>(from, from_row, to, to_row, rows, bytes);
  } else {
    CopyShortRows<2>(from, from_row, to, to_row, rows, bytes);
  }
}

// One element, as often as it fits.
template <typename T>
inline Chunk<16> Repeated(T value) {
  Chunk<16> chunk;
  if constexpr (sizeof(T) == 16) {
    std::memcpy(&chunk, &value, 16);
  } else {
    typedef T Vec __attribute__((vector_size(16)));  // NOLINT(modernize-use-using): of a type that depends on T
    const Vec all = value - Vec{};
    std::memcpy(&chunk, &all, 16);
  }
  return chunk;
}

template <typename T, size_t kBytes>
void SpreadRowsBy(const T* from, int64_t from_row, char* to, int64_t to_row, int64_t rows, int64_t bytes) {
  constexpr auto kStep = static_cast<int64_t>(kBytes);
  for (; rows > 0; --rows, from += from_row, to += to_row) {
    const Chunk<16> all = Repeated(*from);
    const auto chunk = LoadChunk<kBytes>(&all);
    for (int64_t i = 0; i + kStep < bytes; i += kStep) StoreChunk(chunk, to + i);
    StoreChunk(chunk, to + bytes - kStep);
  }
}

// Rows of one element each, repeated: at least twice.
template <typename T>
void SpreadRows(const T* from, int64_t from_row, T* to_data, int64_t to_row, int64_t rows, int64_t cols) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(T));
  const int64_t bytes = cols * kSize;
  char* const to = reinterpret_cast<char*>(to_data);
  to_row *= kSize;
  if (bytes >= 16) return SpreadRowsBy<T, 16>(from, from_row, to, to_row, rows, bytes);
  if constexpr (kSize <= 4) {
    if (bytes >= 8) return SpreadRowsBy<T, 8>(from, from_row, to, to_row, rows, bytes);
  }
  if constexpr (kSize <= 2) {
    if (bytes >= 4) return SpreadRowsBy<T, 4>(from, from_row, to, to_row, rows, bytes);
  }
  if constexpr (kSize == 1) SpreadRowsBy<T, 2>(from, from_row, to, to_row, rows, bytes);
}

// Every other element.
template <typename T>
void CopyHalf(const T* from, T* to, int64_t count) {
  int64_t i = 0;
  if constexpr (sizeof(T) == 4) {
    // Nothing behind the last element is read.
    for (; i + 4 < count; i += 4) StoreFour(EvenOnes(LoadFour(from + 2 * i), LoadFour(from + 2 * i + 4)), to + i);
  }
  for (; i < count; ++i) to[i] = from[2 * i];
}

template <typename T>
void CopyRow(const T* from, int64_t stride, T* to, int64_t count) {
  if (stride == 1) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
  } else if (stride == 0) {
    std::fill_n(to, count, *from);
  } else if (stride == 2) {
    CopyHalf(from, to, count);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i * stride];
  }
}

// to[r * to_stride + c] = from[c * from_stride + r] for 4 x 4 elements.
template <typename T>
void TransposeBlock(const T* from, int64_t from_stride, T* to, int64_t to_stride) {
  if constexpr (sizeof(T) == 4) {
    Transpose4x4(reinterpret_cast<const float*>(from), from_stride, reinterpret_cast<float*>(to), to_stride);
  } else {
    for (int r = 0; r < 4; ++r) {
      for (int c = 0; c < 4; ++c) to[r * to_stride + c] = from[c * from_stride + r];
    }
  }
}

// to = a[0], b[0], a[1], b[1], ... for elements of 4 bytes.
template <typename T>
void Interleave2(const T* a, const T* b, T* to, int64_t count) {
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const FourFloats x = LoadFour(a + i);
    const FourFloats y = LoadFour(b + i);
    StoreFour(InterleaveLow(x, y), to + 2 * i);
    StoreFour(InterleaveHigh(x, y), to + 2 * i + 4);
  }
  for (; i < count; ++i) {
    to[2 * i] = a[i];
    to[2 * i + 1] = b[i];
  }
}

// The same for rows x cols elements, in blocks whose lines stay in L1 both ways.
template <typename T>
void Transpose(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t rows, int64_t cols) {
  if (cols == 2 && to_stride == 2 && sizeof(T) == 4) {
    Interleave2(from, from + from_stride, to, rows);
    return;
  }
  if (cols < 4) {
    // Interleaving a few planes, as of a color image.
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < cols; ++c) to[r * to_stride + c] = from[c * from_stride + r];
    }
    return;
  }
  constexpr int64_t kBlock = 16;
  for (int64_t r0 = 0; r0 < rows; r0 += kBlock) {
    const int64_t r1 = std::min(rows, r0 + kBlock);
    for (int64_t c0 = 0; c0 < cols; c0 += kBlock) {
      const int64_t c1 = std::min(cols, c0 + kBlock);
      int64_t r = r0;
      for (; r + 4 <= r1; r += 4) {
        int64_t c = c0;
        for (; c + 4 <= c1; c += 4) {
          TransposeBlock(from + c * from_stride + r, from_stride, to + r * to_stride + c, to_stride);
        }
        for (; c < c1; ++c) {
          for (int64_t i = r; i < r + 4; ++i) to[i * to_stride + c] = from[c * from_stride + i];
        }
      }
      for (; r < r1; ++r) {
        for (int64_t c = c0; c < c1; ++c) to[r * to_stride + c] = from[c * from_stride + r];
      }
    }
  }
}

template <typename T>
void CopyBlock(const BlockShape& shape, const void* from_data, void* to_data) {
  const T* const from = static_cast<const T*>(from_data);
  T* const to = static_cast<T*>(to_data);
  const auto [rows, cols, from_row, from_col, to_row] = shape;
  if (cols == 1) {
    if (to_row == 1) return CopyRow(from, from_row, to, rows);
    for (int64_t r = 0; r < rows; ++r) to[r * to_row] = from[r * from_row];
  } else if (from_col == 1) {
    constexpr auto kSize = static_cast<int64_t>(sizeof(T));
    CopyRows(static_cast<const char*>(from_data), from_row * kSize, static_cast<char*>(to_data), to_row * kSize, rows,
             cols * kSize);
  } else if (from_col == 0) {
    SpreadRows(from, from_row, to, to_row, rows, cols);
  } else if (from_row == 1 && rows >= 4) {
    Transpose(from, from_col, to, to_row, rows, cols);
  } else {
    for (int64_t r = 0; r < rows; ++r) CopyRow(from + r * from_row, from_col, to + r * to_row, cols);
  }
}

}  // namespace

BlockCopy BlockCopyOf(size_t element_size) {
  switch (element_size) {
    case 1: return &CopyBlock<uint8_t>;
    case 2: return &CopyBlock<uint16_t>;
    case 4: return &CopyBlock<uint32_t>;
    case 8: return &CopyBlock<uint64_t>;
    case 16: return &CopyBlock<Bytes16>;
    default: Throw(ErrorCode::kInternal, "elements of ", element_size, " bytes cannot be copied");
  }
}

void CopyBox(std::span<const BoxDim> dims, const char* from, char* to, size_t element_size, BlockCopy copy) {
  if (dims.size() == 1) return copy({1, dims[0].count, 0, dims[0].from, dims[0].count}, from, to);
  if (dims.size() == 2) return copy({dims[0].count, dims[1].count, dims[0].from, dims[1].from, dims[0].to}, from, to);
  const auto size = static_cast<int64_t>(element_size);
  for (int64_t i = 0; i < dims[0].count; ++i) {
    CopyBox(dims.subspan(1), from + i * dims[0].from * size, to + i * dims[0].to * size, element_size, copy);
  }
}

}  // namespace wherry::cpu
