#include <algorithm>

#include "base/check.h"
#include "kernels/cpu/conv/transposed.h"
#include "kernels/cpu/conv/transposed_blocks.h"

namespace wherry::cpu {
namespace {

// Floats of a band of the output, and of the products that are added to it: together half of a second-level cache of 1
// MB, which also holds the weight and the input.
constexpr int64_t kBandFloats = 64 * 1024;
constexpr int64_t kProductFloats = 64 * 1024;
constexpr int64_t kUnitsPerThread = 4;
// Floats that an epilogue does at once.
constexpr int64_t kWideFloats = 512;

}  // namespace

TransposedPlan::TransposedPlan(const TransposedShape& transposed, bool dense_operands, int threads)
    : shape(transposed) {
  const TransposedWeightShape& w = shape.weight;
  const int64_t channels = w.out_channels();
  block = TransposedChannelBlock(w);
  blocks = TransposedBlockCount(w);
  const bool one_row = blocks == 1 && dense_operands && shape.out_pixel_stride == channels;
  // Products of fewer rows read the weight too often.
  constexpr int64_t kDirectPixels = 16;
  direct = one_row && w.groups == 1 && TransposedTapRows(w) == 1 && shape.pad_top == 0 && shape.pad_left == 0 &&
           w.kernel_height == shape.stride_height && w.kernel_width == shape.stride_width &&
           shape.dilation_height == 1 && shape.dilation_width == 1 && shape.in_width >= kDirectPixels &&
           shape.out_height == shape.in_height * shape.stride_height &&
           shape.out_width == shape.in_width * shape.stride_width;
  const int64_t rows = direct ? shape.in_height : shape.out_height;
  const int64_t row_step = direct ? 1 : shape.stride_height;
  const int64_t row_floats = std::max<int64_t>(1, shape.out_width * block);
  band_rows = direct ? rows : std::max(row_step, kBandFloats / row_floats / row_step * row_step);
  const int64_t others = std::max<int64_t>(1, shape.batch * blocks);
  if (threads > 1) {
    const int64_t wanted = CeilDivide(threads * kUnitsPerThread, others);
    band_rows = std::min(band_rows, RoundUp(CeilDivide(rows, wanted), row_step));
  }
  band_rows = std::max<int64_t>(1, std::min(band_rows, rows));
  bands = CeilDivide(rows, band_rows);
  input_rows = std::max<int64_t>(
      1, kProductFloats / std::max<int64_t>(1, shape.in_width * TransposedTapRows(w) * w.kernel_width * block));
  input_rows = std::min(input_rows, band_rows / shape.stride_height + 1);
  slots = std::max<int64_t>(1, std::min<int64_t>(threads, units()));
  wide_pixels = 1;
  if (direct) {
    wide_pixels = shape.stride_width;
  } else if (one_row) {
    wide_pixels = std::clamp<int64_t>(kWideFloats / channels, 1, std::max<int64_t>(1, shape.out_width));
  }
}

int64_t TransposedPlan::slot_floats() const {
  if (direct) return 0;
  const int64_t band = band_rows * shape.out_width * block;
  const int64_t products = shape.weight.depthwise() ? 0
                                                    : input_rows * shape.in_width * TransposedTapRows(shape.weight) *
                                                          shape.weight.kernel_width * block;
  return RoundUp(band + products, kLineFloats);
}

int64_t TransposedPlan::scratch_floats() const {
  const int64_t operands = RoundUp(wide_pixels * shape.weight.out_channels(), kLineFloats) * TileEpilogue::kMaxSteps;
  return slots * slot_floats() + (wide_pixels > 1 ? operands : 0);
}

std::string TransposedPlan::DebugString() const {
  return StrCat(direct                     ? "direct"
                : shape.weight.depthwise() ? "depthwise"
                                           : "products",
                ", ", units(), " x ", band_rows, " rows of ", block, " channels");
}

}  // namespace wherry::cpu
