#include "kernels/cpu/movement/strided_copy.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "kernels/cpu/movement/block_copy.h"

namespace wherry::cpu {
namespace {

// About 64 KB a chunk: below, claiming costs more than copying.
constexpr int64_t kMinBytes = 65536;
// Fewer rows of a transpose would leave cache lines in part unread.
constexpr int64_t kMinRows = 64;

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

// The dimension whose steps are the rows of blocks, beside the innermost: the one along which the source's elements are
// neighbours, if there is one and they are not along the innermost. Otherwise the next, unless both are short: then the
// nearest that makes blocks of some size, which is what their calls cost.
int RowDim(const BroadcastLoops& loops) {
  const int inner = loops.rank() - 1;
  const int64_t stride = loops.stride(0, inner);
  if (stride != 0 && stride != 1 && loops.cols() > 1) {
    for (int d = 0; d < inner; ++d) {
      if (loops.stride(0, d) == 1 && loops.dim(d) >= 4) return d;
    }
  }
  constexpr int64_t kSmallBlock = 32;
  for (int d = inner - 1; d >= 0; --d) {
    if (loops.dim(d) * loops.cols() >= kSmallBlock) return d;
  }
  return inner - 1;
}

}  // namespace

void StridedCopy(const BroadcastLoops& loops, const void* from_data, void* to_data, size_t element_size,
                 ThreadPool* pool) {
  if (loops.numel() == 0) return;
  const BlockCopy copy = BlockCopyOf(element_size);
  const auto size = static_cast<int64_t>(element_size);
  const char* const from = static_cast<const char*>(from_data);
  char* const to = static_cast<char*>(to_data);
  const int inner = loops.rank() - 1;
  const int64_t from_col = loops.stride(0, inner);
  if (inner == 0) {
    // One row: cut it.
    ParallelFor(pool, loops.cols(), kMinBytes / size, [&](int64_t begin, int64_t end) {
      copy({1, end - begin, 0, from_col, end - begin}, from + begin * from_col * size, to + begin * size);
    });
    return;
  }
  const int row_dim = RowDim(loops);
  std::array<int, BroadcastLoops::kMaxRank> dims{};
  int count = 0;
  int64_t blocks = 1;
  for (int d = 0; d < inner; ++d) {
    if (d == row_dim) continue;
    dims[static_cast<size_t>(count++)] = d;
    blocks *= loops.dim(d);
  }
  // A block is cut into pieces of some of its rows.
  const int64_t rows = loops.dim(row_dim);
  const int64_t from_row = loops.stride(0, row_dim);
  const int64_t to_row = loops.out_stride(row_dim);
  const int64_t row_bytes = loops.cols() * size;
  const int64_t most = std::min(rows, std::max(kMinRows, kMinBytes / row_bytes));
  const int64_t pieces = (rows + most - 1) / most;
  ParallelFor(pool, blocks * pieces, std::max<int64_t>(1, kMinBytes / (most * row_bytes)),
              [&](int64_t begin, int64_t end) {
                Walk walk(loops, dims, count);
                walk.Start(begin / pieces);
                int64_t row = begin % pieces * most;
                for (int64_t i = begin; i < end; ++i) {
                  copy({std::min(most, rows - row), loops.cols(), from_row, from_col, to_row},
                       from + (walk.from() + row * from_row) * size, to + (walk.to() + row * to_row) * size);
                  row += most;
                  if (row >= rows) {
                    row = 0;
                    walk.Next();
                  }
                }
              });
}

}  // namespace wherry::cpu
