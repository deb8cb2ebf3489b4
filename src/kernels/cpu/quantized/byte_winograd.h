// Winograd convolution of bytes, F(m x m, 3x3) with m = 2 or 4, exact: 3x3 kernels of stride 1, dilation 1, one group,
// i8 weights without zero points. A block of input tiles is transformed to words, multiplied by the columns of the
// filter and transformed back while it is in cache.
//
// All is integers. Image bytes are taken as i8 (u8 less 128), the transforms have whole coefficients, and the filter's
// leaves out the divisors; so sums come out 4, or 4 * 225, times those of the direct form. As 32 bits wrap alike in all
// steps, only the last must fit: the odd factor goes by its inverse mod 2^32, the 4 by a shift, so 9 * 128 * 128 a
// channel may reach 2^29. For 4 to be all, F(4,3) has the points 0, 2, 1, -1, -1/2 and infinity, of which no three are
// equal mod 2: with 0, +-1, +-2 it would be 64, and 227 channels. Transformed bytes are within 98 * 255, transformed
// weights within 225 * 128: both fit words, and two of their products 32 bits.
#pragma once

#include <cstdint>
#include <optional>

#include "base/thread_pool.h"
#include "kernels/cpu/conv/conv_shape.h"
#include "kernels/cpu/conv/winograd.h"
#include "kernels/cpu/quantized/byte_product.h"

namespace wherry::cpu {

inline constexpr int64_t kMaxByteWinogradChannels = ((int64_t{1} << 29) - 1) / (9 * 128 * 128);

// Whether it can compute a shape, with i8 weights without zero points.
bool CanRunByteWinograd(const ConvShape& shape);
// The size that takes least time; nullopt for the direct form, as always where four bytes are multiplied at once.
std::optional<WinogradSize> ChooseByteWinograd(const ConvShape& shape, int threads);

// What a filter is packed as: [group of columns][point][pair of channels][column][2] words, zeros behind both; then the
// sum of each column's weights (i32, up to a multiple of 64). A group has the columns that lie side by side in
// `layout`.
struct ByteWinogradFilter {
  ConvWeightShape shape;
  WinogradSize size = WinogradSize::kF2;
  PanelLayout layout = PanelLayout::kGroups;

  int64_t tile() const { return static_cast<int64_t>(size); }
  int64_t points() const { return (tile() + 2) * (tile() + 2); }
  int64_t depth() const { return (shape.in_channels_per_group + 1) / 2 * 2; }
  int64_t group_columns() const { return layout == PanelLayout::kRows ? kBytePanel : kPanelStep; }
  int64_t words() const;
  size_t packed_bytes() const;
  // weight: contiguous OIHW.
  void Pack(const int8_t* weight, void* packed) const;
  const int32_t* ColumnSums(const void* packed) const;
};

// Immutable; results do not depend on the cut.
struct ByteWinogradPlan {
  ByteWinogradPlan() = default;
  ByteWinogradPlan(const ConvShape& conv, WinogradSize size, int threads);

  size_t scratch_bytes() const { return static_cast<size_t>(parameter_bytes + workers * worker_bytes); }

  ConvShape shape;
  ByteWinogradFilter filter;
  int64_t tiles_y = 0;  // per image
  int64_t tiles_x = 0;
  int64_t tiles = 0;   // of the batch
  int64_t blocks = 0;  // of tiles
  int64_t panel_blocks = 1;
  int64_t workers = 1;
  // Of a worker's scratch: words from a tile to the next and from a point to the next in the transformed input, sums
  // from a point to the next, bytes of a pixel in the copy of a tile.
  int64_t tile_stride = 0;
  int64_t input_stride = 0;
  int64_t sums_stride = 0;
  int64_t pixel_bytes = 0;
  int64_t parameter_bytes = 0;  // offsets and scales
  int64_t worker_bytes = 0;
};

struct ByteWinogradCall {
  const ByteWinogradPlan& plan;
  const void* packed;
  const uint8_t* image;  // i8 if is_signed
  bool is_signed;
  uint8_t pad;  // what lies around the image, in the image's own type
  ByteResult result;
};
// A worker's scratch, and which tiles are in it.
struct ByteWinogradBlock {
  int32_t* sums = nullptr;
  int16_t* input = nullptr;
  uint8_t* buffer = nullptr;
  int64_t first = 0;
  int64_t count = 0;
};
// scratch: plan.scratch_bytes(), aligned to 64.
void RunByteWinograd(const ByteWinogradCall& call, void* scratch, ThreadPool* pool);

// The result of a quantised convolution, whose arrays are made at the beginning of `scratch`.
ByteResult MakeByteWinogradResult(const ByteWinogradPlan& plan, const void* packed, DataType x_type,
                                  const ByteParameters& parameters, DenseTensor* out, void* scratch);

}  // namespace wherry::cpu
