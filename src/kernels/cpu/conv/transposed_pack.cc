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

int64_t TransposedChannelBlock(const TransposedWeightShape& w) {
  if (w.depthwise()) return std::min(w.out_channels(), kBlockColumns);
  const int64_t most = std::max(kBlockStep, kBlockColumns / w.kernel_width / kBlockStep * kBlockStep);
  return std::min(w.out_channels_per_group, most);
}

int64_t TransposedTapRows(const TransposedWeightShape& w) {
  return w.taps() * w.out_channels_per_group <= kNarrowColumns ? w.kernel_height : 1;
}

TransposedBlock TransposedBlockAt(const TransposedWeightShape& w, int64_t index) {
  const int64_t size = TransposedChannelBlock(w);
  if (w.depthwise()) return {0, index * size, std::min(size, w.out_channels() - index * size), index * size};
  const int64_t per_group = CeilDivide(w.out_channels_per_group, size);
  const int64_t depth = w.in_channels_per_group();
  const int64_t tap_rows = TransposedTapRows(w);
  const auto floats = [&](int64_t channels) {
    return w.kernel_height / tap_rows * PackedFloats(depth, tap_rows * w.kernel_width * channels);
  };
  const int64_t last = w.out_channels_per_group - (per_group - 1) * size;
  const int64_t group = index / per_group;
  const int64_t first = index % per_group;
  return {group, first * size, first + 1 == per_group ? last : size,
          group * ((per_group - 1) * floats(size) + floats(last)) + first * floats(size)};
}

int64_t TransposedBlockCount(const TransposedWeightShape& w) {
  if (w.depthwise()) return CeilDivide(w.out_channels(), TransposedChannelBlock(w));
  return w.groups * CeilDivide(w.out_channels_per_group, std::max<int64_t>(1, TransposedChannelBlock(w)));
}

int64_t TransposedPackedSize(const TransposedWeightShape& w) {
  if (w.depthwise()) return w.taps() * w.out_channels();
  const int64_t blocks = TransposedBlockCount(w);
  if (blocks == 0) return 0;
  const TransposedBlock last = TransposedBlockAt(w, blocks - 1);
  const int64_t columns = TransposedTapRows(w) * w.kernel_width * last.channels;
  return last.packed + w.kernel_height / TransposedTapRows(w) * PackedFloats(w.in_channels_per_group(), columns);
}

int64_t TransposedPackScratch(const TransposedWeightShape& w) {
  return w.depthwise() ? 0
                       : w.in_channels_per_group() * TransposedTapRows(w) * w.kernel_width * TransposedChannelBlock(w);
}

void PackTransposed(const TransposedWeightShape& w, const float* weight, float* packed, float* scratch,
                    ThreadPool* pool) {
  if (w.depthwise()) {
    for (int64_t c = 0; c < w.out_channels(); ++c) {
      for (int64_t tap = 0; tap < w.taps(); ++tap) packed[tap * w.out_channels() + c] = *weight++;
    }
    return;
  }
  const int64_t depth = w.in_channels_per_group();
  const int64_t tap_rows = TransposedTapRows(w);
  for (int64_t b = 0; b < TransposedBlockCount(w); ++b) {
    const TransposedBlock block = TransposedBlockAt(w, b);
    const int64_t columns = tap_rows * w.kernel_width * block.channels;
    for (int64_t first = 0; first < w.kernel_height; first += tap_rows) {
      float* to = scratch;
      for (int64_t c = 0; c < depth; ++c) {
        const int64_t filter = (block.group * depth + c) * w.out_channels_per_group + block.first;
        for (int64_t tap = first * w.kernel_width; tap < (first + tap_rows) * w.kernel_width; ++tap) {
          for (int64_t m = 0; m < block.channels; ++m) *to++ = weight[(filter + m) * w.taps() + tap];
        }
      }
      PackB({scratch, columns, 1}, depth, columns,
            packed + block.packed + first / tap_rows * PackedFloats(depth, columns), pool);
    }
  }
}

}  // namespace wherry::cpu
