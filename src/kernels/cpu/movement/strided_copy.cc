#include "kernels/cpu/movement/strided_copy.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "base/check.h"
#include "kernels/cpu/simd/four_floats.h"

namespace wherry::cpu {
namespace {

// About 64 KB a chunk: below, claiming costs more than copying.
constexpr int64_t kMinBytes = 65536;

// Walks over some of the loops in order and keeps the two offsets.
class Walk {
 public:
  Walk(const BroadcastLoops& loops, std::array<int, BroadcastLoops::kMaxRank> dims, int count)
      : loops_(loops), dims_(dims), count_(count) {}

  void Start(int64_t index) {
    from_ = 0;
    to_ = 0;
    for (int i = count_ - 1; i >= 0; --i) {
      const int d = Dim(i);
      At(i) = index % loops_.dim(d);
      index /= loops_.dim(d);
      from_ += At(i) * loops_.stride(0, d);
      to_ += At(i) * loops_.out_stride(d);
    }
  }
  void Next() {
    for (int i = count_ - 1; i >= 0; --i) {
      const int d = Dim(i);
      from_ += loops_.stride(0, d);
      to_ += loops_.out_stride(d);
      if (++At(i) < loops_.dim(d)) return;
      from_ -= At(i) * loops_.stride(0, d);
      to_ -= At(i) * loops_.out_stride(d);
      At(i) = 0;
    }
  }
  int64_t from() const { return from_; }
  int64_t to() const { return to_; }

 private:
  int Dim(int i) const { return dims_[static_cast<size_t>(i)]; }
  int64_t& At(int i) { return position_[static_cast<size_t>(i)]; }

  const BroadcastLoops& loops_;
  std::array<int, BroadcastLoops::kMaxRank> dims_;
  int count_;
  std::array<int64_t, BroadcastLoops::kMaxRank> position_{};
  int64_t from_ = 0;
  int64_t to_ = 0;
};

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
    // Short rows (a few channels) are faster than a call.
    if (count * static_cast<int64_t>(sizeof(T)) >= 64) {
      std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
    } else {
      for (int64_t i = 0; i < count; ++i) to[i] = from[i];
    }
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
void TransposeTile(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t rows, int64_t cols) {
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

// The dimension along which the source's elements are neighbours, the innermost excepted; -1 if there is none.
int NeighbourDim(const BroadcastLoops& loops) {
  for (int d = 0; d < loops.rank() - 1; ++d) {
    if (loops.stride(0, d) == 1 && loops.dim(d) >= 4) return d;
  }
  return -1;
}

template <typename T>
void CopyTransposed(const BroadcastLoops& loops, int neighbour, const T* from, T* to, ThreadPool* pool) {
  const int inner = loops.rank() - 1;
  std::array<int, BroadcastLoops::kMaxRank> dims{};
  int count = 0;
  int64_t tiles = 1;
  for (int d = 0; d < inner; ++d) {
    if (d == neighbour) continue;
    dims[static_cast<size_t>(count++)] = d;
    tiles *= loops.dim(d);
  }
  // A tile is 64 columns of all rows, or some rows of all columns: whatever is cut, pieces of 64.
  constexpr int64_t kPiece = 64;
  const int64_t rows = loops.dim(neighbour);
  const int64_t cols = loops.cols();
  const int64_t pieces = (rows + kPiece - 1) / kPiece;
  const int64_t piece_bytes = std::min(rows, kPiece) * cols * static_cast<int64_t>(sizeof(T));
  ParallelFor(pool, tiles * pieces, std::max<int64_t>(1, kMinBytes / std::max<int64_t>(1, piece_bytes)),
              [&](int64_t begin, int64_t end) {
                Walk walk(loops, dims, count);
                for (int64_t i = begin; i < end; ++i) {
                  walk.Start(i / pieces);
                  const int64_t row = i % pieces * kPiece;
                  TransposeTile(from + walk.from() + row, loops.stride(0, inner),
                                to + walk.to() + row * loops.out_stride(neighbour), loops.out_stride(neighbour),
                                std::min(kPiece, rows - row), cols);
                }
              });
}

template <typename T>
void CopyRows(const BroadcastLoops& loops, const T* from, T* to, ThreadPool* pool) {
  const int inner = loops.rank() - 1;
  const int64_t cols = loops.cols();
  const int64_t row_bytes = cols * static_cast<int64_t>(sizeof(T));
  std::array<int, BroadcastLoops::kMaxRank> dims{};
  for (int d = 0; d < inner; ++d) dims[static_cast<size_t>(d)] = d;
  if (inner == 0) {
    // One row: cut it.
    const int64_t stride = loops.stride(0, 0);
    ParallelFor(pool, cols, kMinBytes / static_cast<int64_t>(sizeof(T)),
                [&](int64_t begin, int64_t end) { CopyRow(from + begin * stride, stride, to + begin, end - begin); });
    return;
  }
  ParallelFor(pool, loops.numel() / cols, std::max<int64_t>(1, kMinBytes / row_bytes), [&](int64_t begin, int64_t end) {
    Walk walk(loops, dims, inner);
    walk.Start(begin);
    for (int64_t i = begin; i < end; ++i, walk.Next()) {
      CopyRow(from + walk.from(), loops.stride(0, inner), to + walk.to(), cols);
    }
  });
}

template <typename T>
void CopyTyped(const BroadcastLoops& loops, const void* from, void* to, ThreadPool* pool) {
  const T* const source = static_cast<const T*>(from);
  T* const target = static_cast<T*>(to);
  const int64_t inner_stride = loops.stride(0, loops.rank() - 1);
  const int neighbour = inner_stride == 0 || inner_stride == 1 || loops.cols() == 1 ? -1 : NeighbourDim(loops);
  if (neighbour >= 0) {
    CopyTransposed(loops, neighbour, source, target, pool);
  } else {
    CopyRows(loops, source, target, pool);
  }
}

struct Bytes16 {
  uint64_t low, high;
};

}  // namespace

void StridedCopy(const BroadcastLoops& loops, const void* from, void* to, size_t element_size, ThreadPool* pool) {
  if (loops.numel() == 0) return;
  switch (element_size) {
    case 1: return CopyTyped<uint8_t>(loops, from, to, pool);
    case 2: return CopyTyped<uint16_t>(loops, from, to, pool);
    case 4: return CopyTyped<uint32_t>(loops, from, to, pool);
    case 8: return CopyTyped<uint64_t>(loops, from, to, pool);
    case 16: return CopyTyped<Bytes16>(loops, from, to, pool);
    default: Throw(ErrorCode::kInternal, "elements of ", element_size, " bytes cannot be copied");
  }
}

}  // namespace wherry::cpu
