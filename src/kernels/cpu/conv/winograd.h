// Winograd convolution F(m x m, 3x3), m = 2 or 4: 3x3 kernels of stride 1, dilation 1, one group, any padding and any
// number of channels. A block of input tiles is transformed, multiplied panel by panel and transformed back while it is
// in the second-level cache; nothing the size of the image is ever written.
//
// F(4,3) does a quarter of the multiplications of the direct form. It uses the points 0, +-sqrt(1/2), +-sqrt(2): the
// error is 1.2-3.1e-6 of the largest output where the usual 0, +-1, +-2 give 4-15e-6, at the same cost. F(2,3) does
// 1/2.25 of the multiplications with less than half the packed weight, which wins when the image has few tiles.
//
// Infinities in the input become NaN in the outputs of their tile.
#pragma once

#include <cstdint>

#include "kernels/cpu/conv/conv_shape.h"
#include "kernels/cpu/gemm/gemm.h"
#include "kernels/cpu/tile_epilogue.h"

namespace wherry {
class ThreadPool;
}

namespace wherry::cpu {

// Rows and columns of output that a tile yields.
enum class WinogradSize : int8_t { kF2 = 2, kF4 = 4 };

// Floats of the packed weight. The shape must be 3x3 with one group.
int64_t WinogradPackedSize(const ConvWeightShape& shape, WinogradSize size);

// Packs a contiguous OIHW weight into `packed` (64-byte aligned): [panel][point][channel][width], see panel.h. The
// transform is computed in double precision.
void PackWinograd(const ConvWeightShape& shape, WinogradSize size, const float* weight, float* packed, ThreadPool* pool,
                  PanelLayout layout = WeightLayout());

// What depends on the shape. Immutable, may be shared by threads.
struct WinogradPlan {
  // threads: how many the pool will have.
  WinogradPlan(const ConvShape& conv, WinogradSize tile_size, int threads);

  int64_t tile() const { return static_cast<int64_t>(size); }
  int64_t points() const { return (tile() + 2) * (tile() + 2); }

  // Floats of the scratch that RunWinograd needs, 64-byte aligned.
  int64_t scratch_floats() const;

  ConvShape shape;
  WinogradSize size;
  int64_t tiles_y;  // per image
  int64_t tiles_x;
  int64_t tiles;  // of the batch
  int64_t panels;
  int64_t workers;      // how many blocks (or panels) are in progress at a time,
                        // each with scratch of its own
  int64_t blocks;       // of tiles
  bool share_panels;    // one block, whose panels the workers share out
  int64_t block_tiles;  // of the largest block

  // Strides of the scratch, in floats: of a tile in the transformed input, and of a point in the transformed input and
  // in the products. Points are never a multiple of 4 KB apart, which would put all of a tile into the same cache sets.
  int64_t input_tile_stride;
  int64_t input_point_stride;
  int64_t product_point_stride;
};

// in, out: the first pixel. packed: from PackWinograd for plan.size.
void RunWinograd(const WinogradPlan& plan, const float* in, const float* packed, const TileEpilogue& epilogue,
                 float* out, float* scratch, ThreadPool* pool);

}  // namespace wherry::cpu
