// The tensors of a broadcast cut into tiles, for operators written as loops over contiguous runs of elements.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/function_ref.h"
#include "base/thread_pool.h"
#include "kernels/cpu/movement/block_copy.h"
#include "kernels/cpu/vector/elementwise.h"

namespace wherry::cpu {

// An input: where it begins, and the bytes of an element (1, 2, 4 or 8).
struct TileInput {
  const void* data = nullptr;
  size_t size = 0;
};

// What a tile's body makes of an operand that is one element in all of a tile.
enum class UniformInputs : uint8_t { kAsOneElement, kRepeated };

// A tile is a box of at most kTile elements: some steps along one dimension, and all of the dimensions inside it. An
// operand whose elements of a box do not lie one after another in memory is copied to a buffer, by loops over two
// dimensions at least: rows of 16 elements one by one took ten times as long as what was computed of them.
class BroadcastTiles {
 public:
  static constexpr int kMaxInputs = BroadcastLoops::kMaxInputs;
  // 1.5 KB of f32: with the usual handful of buffers a tile's data stay in the nearest cache of 32 KB.
  static constexpr int64_t kTile = 384;

  // Of the inputs of one tile, one element after another: in the tensor, or in a buffer.
  using Inputs = std::array<const void*, kMaxInputs>;
  using Body = FunctionRef<void(const Inputs& inputs, void* out, int64_t n)>;

  // All arguments must outlive it.
  BroadcastTiles(const BroadcastLoops& loops, std::span<const TileInput> inputs, void* out, size_t out_size,
                 UniformInputs uniform);

  // The body is given one element of this input.
  bool IsUniform(int input) const { return kinds_[static_cast<size_t>(input)] == Kind::kUniform; }

  // Calls body for all tiles. out may be an input that has its shape, strides and size. Allocates nothing; a null pool
  // means on the caller alone; how tiles are cut does not depend on the threads.
  void Run(ThreadPool* pool, Body body) const;

 private:
  enum class Kind : uint8_t {
    kInPlace,  // one element after another in every tile: read where it is
    kUniform,  // one element in each tile
    kCopied,
  };
  // How the elements of a tile lie, for a copy to where they lie one after another (or of the results back): the
  // dimensions of a box, with those merged that it walks evenly.
  struct Box {
    std::array<BoxDim, BroadcastLoops::kMaxRank> dims;
    int rank = 0;
    int64_t per_step = 1;  // the outermost count, for each step along the dimension that is cut
  };
  class Position;

  void Cut(bool rows_alone);
  int64_t ChangingByRow() const;
  Kind KindOf(int tensor, UniformInputs uniform) const;
  Box BoxOf(int tensor) const;
  void RunTiles(int64_t begin, int64_t end, Body body) const;

  const BroadcastLoops& loops_;
  std::span<const TileInput> inputs_;
  char* const out_;
  const size_t out_size_;
  int cut_ = 0;        // the dimension that is cut
  int64_t inner_ = 1;  // elements of a step along it
  int64_t steps_ = 1;  // of a tile at most
  int64_t parts_ = 1;  // of the dimension
  int64_t tiles_ = 1;
  std::array<Kind, kMaxInputs> kinds_{};
  std::array<Box, kMaxInputs> boxes_;  // of the inputs that are copied
  bool scatters_ = false;              // the results of a tile do not lie one after another
  Box out_box_;
};

}  // namespace wherry::cpu
