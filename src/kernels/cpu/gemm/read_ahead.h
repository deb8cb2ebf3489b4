// Weights come from memory once for each run of a network, at 3 to 13 bytes a cycle, and a tile reads 64 of them in six
// cycles. So the tiles that multiply one block of columns ask for the next block meanwhile, a few cache lines at a
// time: all of them at once would wait for memory as reading them does.
#pragma once

#include <cstdint>

namespace wherry::cpu {

// What one tile asks for while it multiplies: `lines` cache lines every kSteps rows of the right-hand side.
struct ReadAhead {
  static constexpr int64_t kSteps = 8;
  static constexpr int64_t kLineFloats = 16;

  const float* from = nullptr;
  int64_t lines = 0;

  void Request() {
    for (int64_t i = 0; i < lines; ++i, from += kLineFloats) __builtin_prefetch(from, 0, 2);
  }
};

// Tile `tile`'s part of `floats` floats at `next`, which `tiles` tiles of `rows` rows each ask for. Behind the last
// weights nothing need be there: a request is no access.
inline ReadAhead PartAhead(const float* next, int64_t floats, int64_t rows, int64_t tile, int64_t tiles) {
  const int64_t requests = rows / ReadAhead::kSteps;  // of each tile
  if (requests == 0) return {};
  const int64_t lines = (floats / ReadAhead::kLineFloats + requests * tiles - 1) / (requests * tiles);
  const int64_t first = tile * requests * lines * ReadAhead::kLineFloats;
  return first < floats ? ReadAhead{next + first, lines} : ReadAhead{};
}

}  // namespace wherry::cpu
