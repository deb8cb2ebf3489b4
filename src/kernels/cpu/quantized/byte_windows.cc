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
  return {shape.out_pixels(), shape.weight.out_channels_per_group(),
          shape.weight.taps() * shape.weight.in_channels_per_group, shape.weight.groups};
}

void ByteWindows::Fill(int64_t group, int64_t row, int64_t count, uint8_t* to, int64_t stride) const {
  const ConvWeightShape& w = shape.weight;
  const int64_t channels = w.in_channels_per_group;
  const uint8_t flip = is_signed ? 0x80 : 0;
  const int64_t out_height = shape.out_height();
  const int64_t out_width = shape.out_width();
  const uint8_t* const first = image + group * channels;
  // Taps side by side in memory are one copy.
  const bool dense = shape.dilation_width == 1 && shape.in_pixel_stride == channels;
  for (int64_t i = row; i < row + count; ++i, to += stride) {
    const int64_t left = i % out_width * shape.stride_width - shape.pad_left;
    const int64_t top = i / out_width % out_height * shape.stride_height - shape.pad_top;
    const int64_t n = i / (out_width * out_height);
    uint8_t* at = to;
    for (int64_t kh = 0; kh < w.kernel_height; ++kh) {
      const int64_t y = top + kh * shape.dilation_height;
      if (y < 0 || y >= shape.in_height) {
        std::memset(at, pad, static_cast<size_t>(w.kernel_width * channels));
        at += w.kernel_width * channels;
        continue;
      }
      const uint8_t* const line = first + (n * shape.in_height + y) * shape.in_width * shape.in_pixel_stride;
      if (dense) {
        const int64_t before = std::clamp<int64_t>(-left, 0, w.kernel_width);
        const int64_t end = std::clamp<int64_t>(shape.in_width - left, before, w.kernel_width);
        std::memset(at, pad, static_cast<size_t>(before * channels));
        if (end > before) {
          CopyBytes(line + (left + before) * channels, (end - before) * channels, flip, at + before * channels);
        }
        std::memset(at + end * channels, pad, static_cast<size_t>((w.kernel_width - end) * channels));
        at += w.kernel_width * channels;
        continue;
      }
      for (int64_t kw = 0; kw < w.kernel_width; ++kw, at += channels) {
        const int64_t x = left + kw * shape.dilation_width;
        if (x < 0 || x >= shape.in_width) {
          std::memset(at, pad, static_cast<size_t>(channels));
        } else {
          CopyBytes(line + x * shape.in_pixel_stride, channels, flip, at);
        }
      }
    }
  }
}

}  // namespace wherry::cpu
