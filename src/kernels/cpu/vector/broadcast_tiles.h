// The tensors of a broadcast cut into tiles, for operators written as loops over contiguous runs of elements.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/function_ref.h"
#include "base/thread_pool.h"
#include "kernels/cpu/vector/elementwise.h"

namespace wherry::cpu {

// An input: where it begins, and the bytes of an element (1, 2, 4 or 8).
struct TileInput {
  const void* data = nullptr;
  size_t size = 0;
};

// Tiles of whole rows (or parts of long rows): at most kTile elements.
class BroadcastTiles {
 public:
  static constexpr int kMaxInputs = BroadcastLoops::kMaxInputs;
  // 1.5 KB of f32: with the usual handful of buffers a tile's data stay in the nearest cache of 32 KB.
  static constexpr int64_t kTile = 384;

  // Of the inputs of one tile, one element after another: in the tensor, or in a buffer.
  using Inputs = std::array<const void*, kMaxInputs>;
  using Body = FunctionRef<void(const Inputs& inputs, void* out, int64_t n)>;

  // All arguments must outlive it.
  BroadcastTiles(const BroadcastLoops& loops, std::span<const TileInput> inputs, void* out, size_t out_size);

  // Calls body for all tiles. out may be an input that has its shape, strides and size. Allocates nothing; a null pool
  // means on the caller alone; how tiles are cut does not depend on the threads.
  void Run(ThreadPool* pool, Body body) const;

 private:
  enum class Kind : uint8_t {
    kWhole,     // as the tile's result: read where it is
    kSameTile,  // every tile looks alike: filled once
    kOther,
  };

  int64_t Stride(int input, int dim) const { return loops_.stride(input, dim); }
  const char* At(int input, int64_t element) const;
  bool IsDense(int tensor) const;
  Kind KindOf(int input) const;
  int64_t RowOffset(int input, int64_t row) const;
  void Fill(int input, int64_t row, int64_t col, int64_t rows, int64_t cols, void* to) const;
  void Scatter(const char* results, int64_t row, int64_t rows) const;
  void RunTiles(int64_t begin, int64_t end, Body body) const;

  const BroadcastLoops& loops_;
  std::span<const TileInput> inputs_;
  char* const out_;
  const int64_t out_size_;
  int64_t cols_;
  int64_t rows_;
  int64_t parts_ = 1;  // tiles of a row
  int64_t part_cols_;
  int64_t tile_rows_;
  bool scatters_ = false;
  int64_t tiles_;
  std::array<Kind, kMaxInputs> kinds_{};
};

}  // namespace wherry::cpu
