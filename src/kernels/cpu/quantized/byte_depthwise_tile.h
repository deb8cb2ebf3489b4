// A tile of a depthwise convolution of bytes, as the per-instruction-set bodies see it.
#pragma once

#include <cstdint>

#include "kernels/cpu/quantized/byte_result.h"

namespace wherry::cpu {

// Neighbours of an output row, at most kPixels; all channels.
struct ByteDepthwiseTile {
  static constexpr int64_t kPixels = 4;  // share each load of a weight

  const uint8_t* const* taps;  // taps[t * kPixels + p]: channel 0 of what tap t of pixel p meets; all are readable
  int64_t tap_count;
  const int32_t* weights;  // [tap][width], in the lower 16 bits of each
  int64_t width;
  int64_t channels;
  int64_t pixel;  // the first, of the result
  int64_t pixels;
  bool is_signed;  // taps point to i8, else u8
  ByteResult result;
};

}  // namespace wherry::cpu
