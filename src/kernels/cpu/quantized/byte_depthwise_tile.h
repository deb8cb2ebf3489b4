// A tile of a depthwise convolution of bytes, as the per-instruction-set bodies see it.
#pragma once

#include <cstdint>

#include "kernels/cpu/quantized/byte_result.h"

namespace wherry::cpu {

// Two neighbours of an output row go together: what their windows meet, line by line and each column of both once, is
// taken in fours, the last padded with weights of zero. Channels go in blocks of 64. Putting the bytes of four columns
// side by side within 16 channels leaves channel 16b + 4q + i of a block in lane i of the b-th 16 bytes of vector q: so
// lie weights, [block][four][neighbour][64 channels in that order][4], and the arrays of the result. As words, weights
// are [block][four][neighbour][64 / 16][columns 0 and 2, or 1 and 3][16][2].
inline constexpr int64_t kByteBlock = 64;
inline constexpr int64_t kFourBytes = 2 * kByteBlock * 4;  // of a block's weights, unless they are words
inline constexpr int64_t InterleavedChannel(int64_t c) {
  return c / 64 * 64 + c % 16 / 4 * 16 + c % 64 / 16 * 4 + c % 4;
}

// Neighbours of an output row, at most kPixels; all channels.
struct ByteDepthwiseTile {
  static constexpr int64_t kPairs = 2;  // share each load of a weight
  static constexpr int64_t kPixels = 2 * kPairs;

  // columns[c * kPairs + pair]: channel 0 of what column c of a pair of pixels meets; 4 * fours of them for each, with
  // whole blocks of readable bytes.
  const uint8_t* const* columns;
  int64_t fours;
  const int8_t* weights;
  const int32_t* ones;  // [four][neighbour]: bytes of 1 where that has a tap
  int64_t channels;
  int64_t pixel;  // the first, of the result
  int64_t pixels;
  bool is_signed;     // columns point to i8, which are taken plus 128, else to u8
  bool dot;           // use HasByteDot's instruction, which must be there
  ByteResult result;  // its weights' zero points, where given, go by the sum of what a channel's taps met
};

}  // namespace wherry::cpu
