#include "kernels/cpu/vector/broadcast_tiles.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace wherry::cpu {
namespace {

constexpr size_t kMaxSize = 8;

template <typename T>
void FillRow(const void* data, int64_t stride, int64_t count, void* to_data) {
  const T* const from = static_cast<const T*>(data);
  T* const to = static_cast<T*>(to_data);
  if (stride == 0) {
    std::fill_n(to, count, *from);
  } else if (stride == 1 && count >= 16) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i * stride];
  }
}

using FillRowFn = void (*)(const void*, int64_t, int64_t, void*);

FillRowFn FillRowOf(size_t size) {
  switch (size) {
    case 1: return &FillRow<uint8_t>;
    case 2: return &FillRow<uint16_t>;
    case 4: return &FillRow<uint32_t>;
    case 8: return &FillRow<uint64_t>;
    default: Throw(ErrorCode::kInternal, "elements of ", size, " bytes in a tile");
  }
}

}  // namespace

BroadcastTiles::BroadcastTiles(const BroadcastLoops& loops, std::span<const TileInput> inputs, void* out,
                               size_t out_size)
    : loops_(loops), inputs_(inputs), out_(static_cast<char*>(out)), out_size_(static_cast<int64_t>(out_size)) {
  cols_ = loops.cols();
  rows_ = loops.numel() / std::max<int64_t>(1, cols_);
  if (cols_ > kTile) {
    parts_ = (cols_ + kTile - 1) / kTile;
    // Equal parts of whole cache lines.
    part_cols_ = ((cols_ + parts_ - 1) / parts_ + 15) / 16 * 16;
    parts_ = (cols_ + part_cols_ - 1) / part_cols_;
    tile_rows_ = 1;
  } else {
    part_cols_ = cols_;
    tile_rows_ = kTile / std::max<int64_t>(1, cols_);
  }
  // What has gaps between short rows gets its results from a tile without.
  scatters_ = tile_rows_ > 1 && !IsDense(-1);
  tiles_ = (rows_ + tile_rows_ - 1) / tile_rows_ * parts_;
  for (size_t i = 0; i < inputs.size(); ++i) kinds_[i] = KindOf(static_cast<int>(i));
}

void BroadcastTiles::Run(ThreadPool* pool, Body body) const {
  if (loops_.numel() == 0) return;
  // About 5 us a chunk at least, at the speed of a cheap operator.
  constexpr int64_t kMinElements = 32768;
  ParallelFor(pool, tiles_, std::max<int64_t>(1, kMinElements / (tile_rows_ * part_cols_)),
              [&](int64_t begin, int64_t end) { RunTiles(begin, end, body); });
}

const char* BroadcastTiles::At(int input, int64_t element) const {
  const TileInput& tensor = inputs_[static_cast<size_t>(input)];
  return static_cast<const char*>(tensor.data) + element * static_cast<int64_t>(tensor.size);
}

void BroadcastTiles::RunTiles(int64_t begin, int64_t end, Body body) const {
  alignas(64) char buffers[kMaxInputs][kTile * kMaxSize];
  alignas(64) char results[kTile * kMaxSize];
  std::array<const char*, kMaxInputs> filled{};  // inputs whose tile is the same for all tiles
  int64_t row = begin / parts_ * tile_rows_;
  int64_t col = begin % parts_ * part_cols_;
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t rows = std::min(tile_rows_, rows_ - row);
    const int64_t cols = std::min(part_cols_, cols_ - col);
    const int64_t out_offset = RowOffset(-1, row) + col;
    Inputs tile_inputs;
    for (int i = 0; i < static_cast<int>(inputs_.size()); ++i) {
      const size_t at = static_cast<size_t>(i);
      char* const buffer = buffers[i];
      if (kinds_[at] == Kind::kWhole) {
        tile_inputs[at] = At(i, scatters_ ? row * cols_ : out_offset);
      } else if (kinds_[at] == Kind::kSameTile) {
        if (filled[at] == nullptr) {
          Fill(i, 0, 0, std::min(tile_rows_, rows_), part_cols_, buffer);
          filled[at] = buffer;
        }
        tile_inputs[at] = filled[at];
      } else if (tile_rows_ == 1 && Stride(i, loops_.rank() - 1) == 1) {
        tile_inputs[at] = At(i, RowOffset(i, row) + col);
      } else {
        Fill(i, row, col, rows, cols, buffer);
        tile_inputs[at] = buffer;
      }
    }
    body(tile_inputs, scatters_ ? results : out_ + out_offset * out_size_, rows * cols);
    if (scatters_) Scatter(results, row, rows);
    col += part_cols_;
    if (col >= cols_) {
      col = 0;
      row += tile_rows_;
    }
  }
}

// The tensor (-1: the output) has no gaps.
bool BroadcastTiles::IsDense(int tensor) const {
  int64_t expected = 1;
  for (int d = loops_.rank() - 1; d >= 0; --d) {
    if (Stride(tensor, d) != expected) return false;
    expected *= loops_.dim(d);
  }
  return true;
}

BroadcastTiles::Kind BroadcastTiles::KindOf(int input) const {
  const int inner = loops_.rank() - 1;
  bool whole = true;
  bool outer_constant = true;
  for (int d = inner; d >= 0; --d) {
    whole = whole && Stride(input, d) == loops_.out_stride(d);
    if (d < inner) outer_constant = outer_constant && Stride(input, d) == 0;
  }
  if (scatters_ ? IsDense(input) : whole) return Kind::kWhole;
  return outer_constant && (parts_ == 1 || Stride(input, inner) == 0) ? Kind::kSameTile : Kind::kOther;
}

// Of the first element in a row of an input, or of the output (input -1).
int64_t BroadcastTiles::RowOffset(int input, int64_t row) const {
  if (loops_.rank() == 1) return 0;
  int64_t offset = 0;
  for (int d = loops_.rank() - 2; d > 0 && row > 0; --d) {
    offset += row % loops_.dim(d) * Stride(input, d);
    row /= loops_.dim(d);
  }
  return offset + row * Stride(input, 0);
}

// The input's values in part of some rows, one after another.
void BroadcastTiles::Fill(int input, int64_t row, int64_t col, int64_t rows, int64_t cols, void* to) const {
  const size_t size = inputs_[static_cast<size_t>(input)].size;
  const FillRowFn fill = FillRowOf(size);
  const int64_t stride = Stride(input, loops_.rank() - 1);
  char* target = static_cast<char*>(to);
  for (int64_t r = 0; r < rows; ++r, target += cols * static_cast<int64_t>(size)) {
    fill(At(input, RowOffset(input, row + r) + col * stride), stride, cols, target);
  }
}

// The results of some whole rows to where they belong.
void BroadcastTiles::Scatter(const char* results, int64_t row, int64_t rows) const {
  const int64_t bytes = cols_ * out_size_;
  for (int64_t r = 0; r < rows; ++r, results += bytes) {
    std::memcpy(out_ + RowOffset(-1, row + r) * out_size_, results, static_cast<size_t>(bytes));
  }
}

}  // namespace wherry::cpu
