#include <algorithm>

#include "kernels/cpu/conv/ceil_divide.h"
#include "kernels/cpu/conv/panel.h"
#include "kernels/cpu/conv/winograd.h"

namespace wherry::cpu {
namespace {

// Floats of a block's transformed input and products. While the packed weight stays in the second-level cache a small
// block keeps the image's traffic in it as well. A larger weight streams from the last level once per block, so the
// block is as large as the cache allows.
constexpr int64_t kSmallBlockFloats = 64 * 1024;
constexpr int64_t kLargeBlockFloats = 288 * 1024;
constexpr int64_t kCachedWeightFloats = 160 * 1024;

// Rows of the tallest register tile over a panel with AVX-512 (tile_kernel-inl.h). Blocks of a multiple of it have no
// shorter tiles, which matters when the product is as shallow as 32 channels (8 rows instead of 12 cost 10 %).
int64_t TileRows(int64_t panel_width) { return panel_width == 64 ? 6 : panel_width == 48 ? 8 : 12; }

}  // namespace

WinogradPlan::WinogradPlan(const ConvShape& conv, WinogradSize tile_size, int threads)
    : shape(conv),
      size(tile_size),
      tiles_y(CeilDivide(conv.out_height(), static_cast<int64_t>(tile_size))),
      tiles_x(CeilDivide(conv.out_width(), static_cast<int64_t>(tile_size))),
      tiles(conv.batch * tiles_y * tiles_x),
      panels(PanelCount(conv.weight.out_channels)) {
  input_tile_stride = PaddedColumns(shape.in_channels()) + 16;
  const int64_t budget =
      WinogradPackedSize(shape.weight, size) <= kCachedWeightFloats ? kSmallBlockFloats : kLargeBlockFloats;
  const int64_t tile_rows = TileRows(PanelWidth(conv.weight.out_channels, 0));
  const int64_t fitting = budget / (points() * (input_tile_stride + kPanelWidth));
  const int64_t wanted = std::max(tile_rows, fitting / tile_rows * tile_rows);
  blocks = CeilDivide(tiles, wanted);
  share_panels = false;
  if (threads > 1 && blocks > 0) {
    // Every block reads the whole weight, so a block of few tiles is bound by that. With few tiles in all, the threads
    // share one block and split the panels.
    share_panels = tiles < threads * 2 * tile_rows && panels >= threads;
    blocks = share_panels ? 1 : std::min(tiles, CeilDivide(blocks, threads) * threads);
  }
  block_tiles = blocks > 0 ? CeilDivide(tiles, blocks) : 0;
  workers = std::min<int64_t>(threads, share_panels ? panels : blocks);
  input_point_stride = block_tiles * input_tile_stride + 16;
  product_point_stride = block_tiles * kPanelWidth + 16;
}

int64_t WinogradPlan::scratch_floats() const {
  return points() * workers * (input_point_stride + product_point_stride);
}

}  // namespace wherry::cpu
