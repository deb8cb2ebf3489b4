// Weights come from memory once for each run of a network, at 3 to 13 bytes a cycle, and a tile reads 64 of them in six
// cycles. So the tiles that multiply one block of columns ask for the next block meanwhile, a few cache lines at a
// time: all of them at once would wait for memory as reading them does. Rows are asked for in the same way, a tile
// ahead: processors do not see that six rows which are read side by side go on behind each other. On a Zen 3, products
// of 3136 rows by 256 by 64 that find nothing in the caches ran at 53 of 103 GFLOP/s, and so at 94.
#pragma once

#include <cstdint>

#include "kernels/cpu/simd/cache_line.h"

namespace wherry::cpu {

// What one tile asks for while it multiplies: `lines` cache lines every kSteps rows of the right-hand side.
struct ReadAhead {
  static constexpr int64_t kSteps = 8;

  const float* from = nullptr;
  int64_t lines = 0;

  void Request() {
    for (int64_t i = 0; i < lines; ++i, from += kLineFloats) __builtin_prefetch(from, 0, 2);
  }
};

// What a tile asks for in all. Handed over by address: copied, it would be read in other parts than it was written in
// just before, for which a processor waits some 15 cycles.
struct TileAhead {
  ReadAhead weights;
  ReadAhead rows;
};

// Asks for lines that will be written.
inline void AskToWrite(float* p, int64_t floats) {
  for (int64_t i = 0; i < floats; i += kLineFloats) __builtin_prefetch(p + i, 1);
}

// How the tiles that multiply one block share the requests for the next. Made once for each block: a division in every
// tile would be felt where the sums are short.
class BlockAhead {
 public:
  BlockAhead() = default;
  // The next block has `floats` floats; each of `tiles` tiles passes `rows` rows of this one.
  BlockAhead(int64_t floats, int64_t rows, int64_t tiles) : floats_(floats) {
    const int64_t requests = rows / ReadAhead::kSteps;  // of each tile
    if (requests == 0) return;
    lines_ = (floats / kLineFloats + requests * tiles - 1) / (requests * tiles);
    tile_floats_ = requests * lines_ * kLineFloats;
  }

  // Tile `tile`'s part, of the block that begins at `next`. Behind the last weights nothing need be there: a request is
  // no access.
  ReadAhead Part(const float* next, int64_t tile) const {
    const int64_t first = tile * tile_floats_;
    return first < floats_ ? ReadAhead{next + first, lines_} : ReadAhead{};
  }

 private:
  int64_t floats_ = 0;
  int64_t lines_ = 0;
  int64_t tile_floats_ = 0;
};

}  // namespace wherry::cpu
