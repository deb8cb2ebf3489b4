// Convolutions of bytes on images whose channels are innermost: as products of their windows' rows, and depthwise.
#pragma once

#include <cstdint>

#include "kernels/cpu/conv/conv_shape.h"
#include "kernels/cpu/quantized/byte_product.h"

namespace wherry::cpu {

// The product that a convolution is: a row per output pixel, a group's channels under each tap side by side.
ByteProductShape WindowProduct(const ConvShape& shape);

// The windows' rows as FillRows wants them, in u8 (i8 plus 128). pad: what lies around the image, as such a u8.
struct ByteWindows {
  const ConvShape& shape;
  const uint8_t* image;  // i8 if is_signed
  bool is_signed;
  uint8_t pad;

  void Fill(int64_t group, int64_t row, int64_t count, uint8_t* to, int64_t stride) const;
};

// Depthwise (one input and one output channel per group). Everything that Run needs beside the tensors is made at each
// run, which costs less than a pixel row.
struct ByteDepthwisePlan {
  ByteDepthwisePlan() = default;
  ByteDepthwisePlan(const ConvShape& conv, int threads);

  ConvShape shape;
  int64_t workers = 1;
  size_t scratch_bytes = 0;
};
void RunByteDepthwise(const ByteDepthwisePlan& plan, const DenseTensor& x, const DenseTensor& filter,
                      const ByteParameters& parameters, DenseTensor* out, void* scratch, ThreadPool* pool);

}  // namespace wherry::cpu
