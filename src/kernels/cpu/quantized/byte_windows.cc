#include <algorithm>
#include <cstring>

#include "kernels/cpu/quantized/byte_conv.h"

namespace wherry::cpu {
namespace {

void CopyBytes(const uint8_t* from, int64_t count, uint8_t flip, uint8_t* to) {
  if (flip == 0) {
    std::memcpy(to, from, static_cast<size_t>(count));
    return;
  }
  for (int64_t i = 0; i < count; ++i) to[i] = from[i] ^ flip;
}

}  // namespace

ByteProductShape WindowProduct(const ConvShape& shape) {
  const ConvWeightShape& w = shape.weight;
  const bool lines = shape.dilation_width == 1 && shape.in_pixel_stride == w.in_channels_per_group;
  const int64_t taps = lines ? w.kernel_width : 1;  // of a segment
  return {shape.out_pixels(), w.out_channels_per_group(), taps * w.in_channels_per_group, w.taps() / taps, w.groups};
}

// The pixels of one line of the result that a block has, under one segment of the kernel.
struct ByteWindows::Run {
  int64_t column;  // of the first
  int64_t count;
  int64_t n;  // image
  int64_t y;  // of the segment, and the x of its first tap under column 0
  int64_t x;
  int64_t channel;
  int64_t taps;
};

uint8_t* ByteWindows::PlaceRun(const Run& run, const uint8_t* outside, const uint8_t** places, uint8_t* buffer) const {
  if (run.y < 0 || run.y >= shape.in_height) {
    std::fill_n(places, run.count, outside);
    return buffer;
  }
  const int64_t channels = shape.weight.in_channels_per_group;
  const int64_t padded = PaddedDepth(product.depth);
  const int64_t line = (run.n * shape.in_height + run.y) * shape.in_width;
  const uint8_t* const end = image + shape.batch * shape.in_height * shape.in_width * shape.in_pixel_stride;
  for (int64_t i = 0; i < run.count; ++i) {
    const int64_t x = run.x + (run.column + i) * shape.stride_width;
    if (x >= 0 && x + run.taps <= shape.in_width && !is_signed) {
      const uint8_t* const from = image + (line + x) * shape.in_pixel_stride + run.channel;
      if (end - from >= padded) {
        places[i] = from;
        continue;
      }
    }
    // Taps of the segment before, in and behind the image.
    const int64_t before = std::clamp<int64_t>(-x, 0, run.taps);
    const int64_t behind = std::clamp<int64_t>(shape.in_width - x, before, run.taps);
    if (before == behind) {
      places[i] = outside;
      continue;
    }
    const uint8_t* const from = image + (line + x + before) * shape.in_pixel_stride + run.channel;
    std::memset(buffer, pad, static_cast<size_t>(before * channels));
    CopyBytes(from, (behind - before) * channels, is_signed ? 0x80 : 0, buffer + before * channels);
    std::memset(buffer + behind * channels, pad, static_cast<size_t>(padded - behind * channels));
    places[i] = buffer;
    buffer += padded;
  }
  return buffer;
}

void ByteWindows::Place(int64_t group, int64_t row, int64_t count, const uint8_t** places, int64_t pitch,
                        uint8_t* buffer) const {
  const ConvWeightShape& w = shape.weight;
  const int64_t segments_per_line = product.segments / w.kernel_height;
  const int64_t out_height = shape.out_height();
  const int64_t out_width = shape.out_width();
  const int64_t padded = PaddedDepth(product.depth);
  const uint8_t* const outside = buffer;
  std::memset(buffer, pad, static_cast<size_t>(padded));
  buffer += padded;
  for (int64_t done = 0; done < count;) {
    Run run;
    run.column = (row + done) % out_width;
    run.count = std::min(count - done, out_width - run.column);
    run.channel = group * w.in_channels_per_group;
    run.taps = w.kernel_width / segments_per_line;
    const int64_t line = (row + done) / out_width;
    run.n = line / out_height;
    const int64_t top = line % out_height * shape.stride_height - shape.pad_top;
    const uint8_t** place = places + done;
    for (int64_t kh = 0; kh < w.kernel_height; ++kh) {
      run.y = top + kh * shape.dilation_height;
      for (int64_t s = 0; s < segments_per_line; ++s, place += pitch) {
        run.x = s * shape.dilation_width - shape.pad_left;
        buffer = PlaceRun(run, outside, place, buffer);
      }
    }
    done += run.count;
  }
}

}  // namespace wherry::cpu
