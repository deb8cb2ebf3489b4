#include <algorithm>

#include "kernels/cpu/conv/transposed.h"
#include "kernels/cpu/conv/transposed_blocks.h"
#include "kernels/cpu/gemm/gemm.h"

namespace wherry::cpu {
namespace {

// Columns of a product beyond which the output channels are split.
constexpr int64_t kBlockColumns = 1024;
constexpr int64_t kBlockStep = 16;
constexpr int64_t kNarrowColumns = 16;

}  // namespace

int64_t TransposedChannelBlock(const TransposedWeightShape& shape) {
  if (shape.depthwise()) return std::min(shape.out_channels(), kBlockColumns);
  const int64_t most = std::max(kBlockStep, kBlockColumns / shape.kernel_width / kBlockStep * kBlockStep);
  return std::min(shape.out_channels_per_group, most);
}

int64_t TransposedTapRows(const TransposedWeightShape& shape) {
  return shape.taps() * shape.out_channels_per_group <= kNarrowColumns ? shape.kernel_height : 1;
}

TransposedBlock TransposedBlockAt(const TransposedWeightShape& shape, int64_t index) {
  const int64_t size = TransposedChannelBlock(shape);
  if (shape.depthwise()) return {0, index * size, std::min(size, shape.out_channels() - index * size), index * size};
  const int64_t per_group = CeilDivide(shape.out_channels_per_group, size);
  const int64_t depth = shape.in_channels_per_group();
  const int64_t tap_rows = TransposedTapRows(shape);
  const auto floats = [&](int64_t channels) {
    return shape.kernel_height / tap_rows * PackedFloats(depth, tap_rows * shape.kernel_width * channels);
  };
  const int64_t last = shape.out_channels_per_group - (per_group - 1) * size;
  const int64_t group = index / per_group;
  const int64_t first = index % per_group;
  return {group, first * size, first + 1 == per_group ? last : size,
          group * ((per_group - 1) * floats(size) + floats(last)) + first * floats(size)};
}

int64_t TransposedBlockCount(const TransposedWeightShape& shape) {
  if (shape.depthwise()) return CeilDivide(shape.out_channels(), TransposedChannelBlock(shape));
  return shape.groups * CeilDivide(shape.out_channels_per_group, std::max<int64_t>(1, TransposedChannelBlock(shape)));
}

int64_t TransposedPackedSize(const TransposedWeightShape& shape) {
  if (shape.depthwise()) return shape.taps() * shape.out_channels();
  const int64_t blocks = TransposedBlockCount(shape);
  if (blocks == 0) return 0;
  const TransposedBlock last = TransposedBlockAt(shape, blocks - 1);
  const int64_t columns = TransposedTapRows(shape) * shape.kernel_width * last.channels;
  return last.packed +
         shape.kernel_height / TransposedTapRows(shape) * PackedFloats(shape.in_channels_per_group(), columns);
}

int64_t TransposedPackScratch(const TransposedWeightShape& shape) {
  return shape.depthwise() ? 0
                           : shape.in_channels_per_group() * TransposedTapRows(shape) * shape.kernel_width *
                                 TransposedChannelBlock(shape);
}

void PackTransposed(const TransposedWeightShape& shape, const float* weight, float* packed, float* scratch,
                    ThreadPool* pool) {
  if (shape.depthwise()) {
    for (int64_t c = 0; c < shape.out_channels(); ++c) {
      for (int64_t tap = 0; tap < shape.taps(); ++tap) packed[tap * shape.out_channels() + c] = *weight++;
    }
    return;
  }
  const int64_t depth = shape.in_channels_per_group();
  const int64_t tap_rows = TransposedTapRows(shape);
  for (int64_t b = 0; b < TransposedBlockCount(shape); ++b) {
    const TransposedBlock block = TransposedBlockAt(shape, b);
    const int64_t columns = tap_rows * shape.kernel_width * block.channels;
    for (int64_t first = 0; first < shape.kernel_height; first += tap_rows) {
      float* to = scratch;
      for (int64_t c = 0; c < depth; ++c) {
        const int64_t filter = (block.group * depth + c) * shape.out_channels_per_group + block.first;
        for (int64_t tap = first * shape.kernel_width; tap < (first + tap_rows) * shape.kernel_width; ++tap) {
          for (int64_t m = 0; m < block.channels; ++m) *to++ = weight[(filter + m) * shape.taps() + tap];
        }
      }
      PackB({scratch, columns, 1}, depth, columns,
            packed + block.packed + first / tap_rows * PackedFloats(depth, columns), pool);
    }
  }
}

}  // namespace wherry::cpu
