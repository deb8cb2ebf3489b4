// Transposed convolution: what every input pixel adds to the output is a product, [pixels][channels] times the columns
// (tap, output channel) of one row of the kernel, whose rows are then added where they belong. Where kernel and stride
// are equal nothing overlaps, and the products are written to the output at once.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/cpu/tile_epilogue.h"

namespace wherry {
class ThreadPool;
}

namespace wherry::cpu {

// What a packed weight depends on. The unpacked weight is contiguous
// [in_channels][out_channels_per_group][kernel_height][kernel_width].
struct TransposedWeightShape {
  int64_t in_channels = 0;  // of all groups; a multiple of groups
  int64_t out_channels_per_group = 0;
  int64_t kernel_height = 1;
  int64_t kernel_width = 1;
  int64_t groups = 1;

  int64_t in_channels_per_group() const { return in_channels / groups; }
  int64_t out_channels() const { return out_channels_per_group * groups; }
  int64_t taps() const { return kernel_height * kernel_width; }
  bool depthwise() const { return groups > 1 && in_channels == groups && out_channels_per_group == 1; }
};

// Images as in ConvShape. Input pixel (y, x) adds to the output pixels (y * stride - pad_top + tap * dilation, ...)
// that exist; those that nothing is added to hold the epilogue of zero.
struct TransposedShape {
  int64_t batch = 1;
  int64_t in_height = 0;
  int64_t in_width = 0;
  TransposedWeightShape weight;
  int64_t stride_height = 1;
  int64_t stride_width = 1;
  int64_t dilation_height = 1;
  int64_t dilation_width = 1;
  int64_t pad_top = 0;
  int64_t pad_left = 0;
  int64_t out_height = 0;
  int64_t out_width = 0;
  int64_t in_pixel_stride = 0;
  int64_t out_pixel_stride = 0;
};

// Floats of the packed weight.
int64_t TransposedPackedSize(const TransposedWeightShape& shape);

// `packed`: 64-byte aligned. Depthwise: [tap][channel]; else a packed product for each group, block of output
// channels and row of the kernel, with columns (tap, channel of the block). `scratch`:
// TransposedPackScratch floats.
void PackTransposed(const TransposedWeightShape& shape, const float* weight, float* packed, float* scratch,
                    ThreadPool* pool);
int64_t TransposedPackScratch(const TransposedWeightShape& shape);

// What depends on the shape. Immutable, may be shared by threads.
struct TransposedPlan {
  // dense_operands: the pixels of what the epilogue adds have no gaps. threads: how many the pool will have.
  TransposedPlan(const TransposedShape& transposed, bool dense_operands, int threads);

  TransposedShape shape;
  bool direct;          // written to the output at once
  int64_t band_rows;    // output rows (direct: input rows) that are finished together
  int64_t bands;        // of an image
  int64_t block;        // output channels (of a group) that are
  int64_t blocks;       // of all groups
  int64_t input_rows;   // that are multiplied at once
  int64_t slots;        // threads that work
  int64_t wide_pixels;  // how many pixels' operands are laid side by side for the epilogue; 1: none are

  int64_t units() const { return shape.batch * bands * blocks; }
  // Floats of the scratch that Run needs, 64-byte aligned.
  int64_t scratch_floats() const;
  int64_t slot_floats() const;
  // For people: "direct, 4 bands of 16 rows".
  std::string DebugString() const;
};

// in, out: the first pixel. packed: from PackTransposed.
void RunTransposed(const TransposedPlan& plan, const float* in, const float* packed, const TileEpilogue& epilogue,
                   float* out, float* scratch, ThreadPool* pool);

}  // namespace wherry::cpu
