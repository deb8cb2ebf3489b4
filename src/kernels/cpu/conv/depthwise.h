// Depthwise convolution: every channel has a kernel of its own, or every two or four neighbours have, which fit into a
// vector. 3x3 and 5x5 kernels with strides 1 and 2, and 7x7 with
// stride 1, keep a tile of outputs in registers and load every input once per tile, with stride 1 in any dilation; any
// other kernel, stride and dilation, and groups of channels, go through a general tile. (A channel multiplier above one
// and larger groups are for implicit_gemm.h.)
#pragma once

#include <cstdint>

#include "kernels/cpu/conv/conv_shape.h"
#include "kernels/cpu/tile_epilogue.h"

namespace wherry {
class ThreadPool;
}

namespace wherry::cpu {

// True if the shape has groups of one, two or four channels, as many out as in.
inline bool IsDepthwise(const ConvWeightShape& shape) {
  const int64_t group = shape.in_channels_per_group;
  return (group == 1 || group == 2 || group == 4) && shape.out_channels_per_group() == group && shape.groups > 1;
}

// Floats of the packed weight.
int64_t DepthwisePackedSize(const ConvWeightShape& shape);

// Packs a contiguous [channels][group][height][width] weight into `packed` (64-byte aligned): blocks of 16 channels,
// [block][tap][group][16], zeros in the last.
void PackDepthwise(const ConvWeightShape& shape, const float* weight, float* packed);

// What depends on the shape. Immutable, may be shared by threads.
struct DepthwisePlan {
  // threads: how many the pool will have.
  DepthwisePlan(const ConvShape& conv, int threads);

  ConvShape shape;
  int64_t row_chunks;      // of the output rows of all images
  int64_t channel_chunks;  // of the blocks of 16 channels
};

// in, out: the first pixel. packed: from PackDepthwise. Needs no scratch.
void RunDepthwise(const DepthwisePlan& plan, const float* in, const float* packed, const TileEpilogue& epilogue,
                  float* out, ThreadPool* pool);

}  // namespace wherry::cpu
