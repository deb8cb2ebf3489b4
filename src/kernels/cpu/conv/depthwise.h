// Depthwise convolution: every channel has a kernel of its own, or a few, or every two, four or eight neighbours have.
// 3x3 and 5x5 kernels with strides 1 and 2, and 7x7 with stride 1, keep a tile of outputs in registers and load every
// input once per tile, with stride 1 in any dilation; so do, without dilation, 3x3 with several outputs of a channel or
// groups of four and eight, and 7x7 of stride 2 with several outputs. Any other goes through a general tile. (Larger
// groups are for implicit_gemm.h.)
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu/conv/conv_shape.h"
#include "kernels/cpu/conv/panel.h"
#include "kernels/cpu/tile_epilogue.h"

namespace wherry {
class ThreadPool;
}

namespace wherry::cpu {

// True if the shape has groups of 1, 2, 4 or 8 channels, as many out as in, or of one with several outputs. From 16
// outputs on, a group fills panels of implicit_gemm.h; and tiles read whole vectors of channels to put them into
// several lanes.
inline bool IsDepthwise(const ConvWeightShape& shape) {
  const int64_t in = shape.in_channels_per_group;
  const int64_t out = shape.out_channels_per_group();
  if (shape.groups == 1) return false;
  if (in == 1 && out > 1) return out < kPanelStep && shape.groups >= kPanelStep;
  return in == out && (in == 1 || in == 2 || in == 4 || in == 8);
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
  std::vector<int32_t> sources;  // the channel that each output is one of, up to whole panels; empty: its own
  int64_t row_chunks;            // of the output rows of all images
  int64_t channel_chunks;        // of the blocks of 16 channels
};

// in, out: the first pixel. packed: from PackDepthwise. Needs no scratch.
void RunDepthwise(const DepthwisePlan& plan, const float* in, const float* packed, const TileEpilogue& epilogue,
                  float* out, ThreadPool* pool);

}  // namespace wherry::cpu
