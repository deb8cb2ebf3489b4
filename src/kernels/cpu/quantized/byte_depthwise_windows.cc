#include <algorithm>
#include <cstring>

#include "kernels/cpu/quantized/byte_conv.h"
#include "kernels/cpu/quantized/byte_depthwise_tile.h"

namespace wherry::cpu {

ByteDepthwiseWindows::ByteDepthwiseWindows(int64_t height, int64_t width, int64_t stride, int64_t dilation,
                                           bool as_words)
    : kernel_height(height), kernel_width(width), words(as_words) {
  for (int64_t tap = 0; tap < width; ++tap) {
    columns.push_back(tap * dilation);
    columns.push_back(tap * dilation + stride);
  }
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  for (int64_t tap = 0; tap < width; ++tap) {
    for (int64_t side = 0; side < 2; ++side) {
      const auto at = std::lower_bound(columns.begin(), columns.end(), tap * dilation + side * stride);
      column_of_tap.push_back(at - columns.begin());
    }
  }
  ones.resize(static_cast<size_t>(2 * fours()));
  for (int64_t tap = 0; tap < height * width; ++tap) {
    for (int64_t side = 0; side < 2; ++side) {
      const int64_t column = Column(tap, side);
      ones[static_cast<size_t>(column / 4 * 2 + side)] |= 1 << (8 * (column % 4));
    }
  }
}

size_t ByteDepthwiseWindows::WeightBytes(int64_t channels) const {
  return static_cast<size_t>(PaddedBytes64(channels) / kByteBlock * fours() * kFourBytes * (words ? 2 : 1));
}

size_t ByteDepthwiseWindows::PackedBytes(int64_t channels) const {
  return WeightBytes(channels) + static_cast<size_t>(PaddedBytes64(channels)) * sizeof(int32_t);
}

void ByteDepthwiseWindows::Pack(const uint8_t* filter, bool is_unsigned, int64_t channels, void* packed) const {
  std::memset(packed, 0, PackedBytes(channels));
  auto* const weights = static_cast<int8_t*>(packed);
  auto* const sums = reinterpret_cast<int32_t*>(weights + WeightBytes(channels));
  const int64_t taps = kernel_height * kernel_width;
  for (int64_t c = 0; c < channels; ++c) {
    const int64_t block = c / kByteBlock * fours() * 2;
    const int64_t place = InterleavedChannel(c) % kByteBlock;
    for (int64_t tap = 0; tap < taps; ++tap) {
      const auto weight = static_cast<int8_t>(filter[c * taps + tap] ^ (is_unsigned ? 0x80 : 0));
      sums[c] += weight;
      for (int64_t side = 0; side < 2; ++side) {
        const int64_t column = Column(tap, side);
        const int64_t four = (block + column / 4 * 2 + side) * kByteBlock;
        if (!words) {
          weights[(four + place) * 4 + column % 4] = weight;
          continue;
        }
        // For each 16 channels, columns 0 and 2, then 1 and 3.
        const int64_t half = (four + place / 16 * 16) * 2 + column % 2 * 16 + place % 16;
        reinterpret_cast<int16_t*>(weights)[half * 2 + column % 4 / 2] = weight;
      }
    }
  }
}

}  // namespace wherry::cpu
