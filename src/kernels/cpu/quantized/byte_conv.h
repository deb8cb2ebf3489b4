// Convolutions of bytes on images whose channels are innermost: as products of their windows' rows, and depthwise.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu/conv/conv_shape.h"
#include "kernels/cpu/quantized/byte_product.h"

namespace wherry::cpu {

// The product that a convolution is: a row per output pixel; under each tap a group's channels side by side. A segment
// is a line of the kernel where the image has that side by side as well, else a tap.
ByteProductShape WindowProduct(const ConvShape& shape);

// The windows' rows as PlaceRows wants them, in u8 (i8 plus 128): most lie in the image, but for what hangs over its
// border. pad: what lies around the image, as such a u8.
struct ByteWindows {
  const ConvShape& shape;
  const ByteProductShape& product;
  const uint8_t* image;  // i8 if is_signed
  bool is_signed;
  uint8_t pad;

  void Place(int64_t group, int64_t row, int64_t count, const uint8_t** places, int64_t pitch, uint8_t* buffer) const;

 private:
  struct Run;
  // What is left of the buffer. outside: a segment of padding.
  uint8_t* PlaceRun(const Run& run, const uint8_t* outside, const uint8_t** places, uint8_t* buffer) const;
};

// What the windows of two neighbours of an output row meet: the columns of both, each once.
struct ByteDepthwiseWindows {
  ByteDepthwiseWindows() = default;
  // Of a kernel; stride and dilation along the row; weights as words, for bodies without HasByteDot's instruction.
  ByteDepthwiseWindows(int64_t height, int64_t width, int64_t stride, int64_t dilation, bool as_words);

  // The number of the column, of all lines, that a tap of the first or second neighbour meets.
  int64_t Column(int64_t tap, int64_t side) const {
    const int64_t within = column_of_tap[static_cast<size_t>(tap % kernel_width * 2 + side)];
    return tap / kernel_width * static_cast<int64_t>(columns.size()) + within;
  }
  int64_t fours() const { return (kernel_height * static_cast<int64_t>(columns.size()) + 3) / 4; }

  // A filter of [channels][taps] as the bodies want it, WeightBytes, and the sum of each channel's.
  size_t WeightBytes(int64_t channels) const;
  size_t PackedBytes(int64_t channels) const;
  void Pack(const uint8_t* filter, bool is_unsigned, int64_t channels, void* packed) const;

  int64_t kernel_height = 0;
  int64_t kernel_width = 0;
  bool words = false;
  std::vector<int64_t> columns;        // pixels from the first neighbour's first tap on, rising
  std::vector<int64_t> column_of_tap;  // [tap of a line][neighbour]
  std::vector<int32_t> ones;           // as ByteDepthwiseTile::ones
};

// Depthwise (one input and one output channel per group). Immutable.
struct ByteDepthwisePlan {
  ByteDepthwisePlan() = default;
  ByteDepthwisePlan(const ConvShape& conv, int threads);

  ConvShape shape;
  ByteDepthwiseWindows windows;
  int64_t workers = 1;
  size_t scratch_bytes = 0;
};
// packed: by plan.windows. Parameters are made at each run, which costs less than a pixel row.
void RunByteDepthwise(const ByteDepthwisePlan& plan, const void* packed, const DenseTensor& x,
                      const DenseTensor& filter, const ByteParameters& parameters, DenseTensor* out, void* scratch,
                      ThreadPool* pool);

}  // namespace wherry::cpu
