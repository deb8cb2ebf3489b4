#include <algorithm>

#include "kernels/cpu/conv/ceil_divide.h"
#include "kernels/cpu/conv/conv_algorithm.h"
#include "kernels/cpu/conv/panel.h"
#include "kernels/cpu/quantized/byte_winograd.h"
#include "kernels/cpu/simd/isa.h"

namespace wherry::cpu {
namespace {

// Rows of the tallest register tile.
constexpr int64_t kTileRows = 6;

// Costs are in multiply-adds of a long product, some 12 ps each (Zen 3). Fitted to the shapes of cpu_kernels.md.

// A byte of packed weights, from memory: 14 GB/s. A network's weights do not stay in the last cache, and threads share
// what brings them.
constexpr double kWeightCost = 6;
// An element of the transformed input or of the sums.
double TransformCost(WinogradSize size) { return size == WinogradSize::kF4 ? 16 : 11; }

double DirectCost(const ConvShape& shape, int threads) {
  const auto products = static_cast<double>(shape.out_pixels() * shape.in_channels() * shape.weight.taps() *
                                            PaddedColumns(shape.weight.out_channels));
  return products / threads + static_cast<double>(shape.weight.elements()) * kWeightCost;
}

double WinogradCost(const ConvShape& shape, WinogradSize size, int threads) {
  const ByteWinogradPlan plan(shape, size, threads);
  const int64_t channels = shape.in_channels();
  const int64_t columns = PaddedColumns(shape.weight.out_channels);
  const double each =
      static_cast<double>(channels * columns) + static_cast<double>(channels + columns) * TransformCost(size);
  return static_cast<double>(plan.tiles * plan.filter.points()) * each / threads +
         static_cast<double>(plan.filter.packed_bytes()) * kWeightCost;
}

}  // namespace

bool CanRunByteWinograd(const ConvShape& shape) {
  return CanRun(ConvAlgorithm::kWinograd2, shape) && shape.in_channels() <= kMaxByteWinogradChannels;
}

std::optional<WinogradSize> ChooseByteWinograd(const ConvShape& shape, int threads) {
  // A clear gain, for weights that take 3.6 or 8 times the memory.
  constexpr double kGain = 1.1;
  if (HasByteDot(ActiveIsa()) || !CanRunByteWinograd(shape)) return std::nullopt;
  const double winograd2 = WinogradCost(shape, WinogradSize::kF2, threads);
  const double winograd4 = WinogradCost(shape, WinogradSize::kF4, threads);
  if (DirectCost(shape, threads) < kGain * std::min(winograd2, winograd4)) return std::nullopt;
  return winograd4 < winograd2 ? WinogradSize::kF4 : WinogradSize::kF2;
}

ByteWinogradPlan::ByteWinogradPlan(const ConvShape& conv, WinogradSize size, int threads)
    : shape(conv), filter{conv.weight, size, WeightLayout()} {
  // Of a block's transformed input and the sums of a group of columns, which stay in L2. Measured: 96 to 256 KB are the
  // same within 5 %.
  constexpr int64_t kBlockBytes = int64_t{192} << 10;
  constexpr int64_t kVectorWords = 32;  // of the widest
  const int64_t channels = conv.in_channels();
  tiles_y = CeilDivide(conv.out_height(), filter.tile());
  tiles_x = CeilDivide(conv.out_width(), filter.tile());
  tiles = conv.batch * tiles_y * tiles_x;
  pixel_bytes = CeilDivide(channels, kVectorWords) * kVectorWords;
  // Tiles and points of a multiple of 4 KB would all lie in the same sets of L1.
  tile_stride = pixel_bytes + kVectorWords;
  const auto point_bytes = tile_stride * static_cast<int64_t>(sizeof(int16_t)) +
                           filter.group_columns() * static_cast<int64_t>(sizeof(int32_t));
  const int64_t wanted = std::max<int64_t>(1, kBlockBytes / filter.points() / point_bytes / kTileRows) * kTileRows;
  blocks = CeilDivide(tiles, wanted);
  if (threads > 1 && blocks > 0) {
    // A block reads all weights, so few tiles are one block whose columns are shared out.
    const int64_t panels = PaddedBytes64(conv.weight.out_channels) / kBytePanel;
    if (tiles < threads * 2 * kTileRows && panels >= threads) {
      panel_blocks = threads;
    } else {
      blocks = std::min(tiles, CeilDivide(blocks, threads) * threads);
    }
  }
  workers = std::clamp<int64_t>(blocks * panel_blocks, 1, threads);
  const int64_t block_tiles = blocks > 0 ? CeilDivide(tiles, blocks) : 0;
  input_stride = block_tiles * tile_stride + kVectorWords;
  sums_stride = block_tiles * filter.group_columns() + kPanelStep;
  const auto floats = 2 * PaddedBytes64(conv.weight.out_channels);
  parameter_bytes = floats * static_cast<int64_t>(sizeof(float));
  worker_bytes = filter.points() * (sums_stride * static_cast<int64_t>(sizeof(int32_t)) +
                                    input_stride * static_cast<int64_t>(sizeof(int16_t)) + pixel_bytes);
  worker_bytes = CeilDivide(worker_bytes, 64) * 64;
}

ByteResult MakeByteWinogradResult(const ByteWinogradPlan& plan, const void* packed, DataType x_type,
                                  const ByteParameters& parameters, DenseTensor* out, void* scratch) {
  const int64_t n = plan.shape.weight.out_channels;
  const int32_t* const sums = plan.filter.ColumnSums(packed);
  const ByteColumns columns(parameters, DataType::kInt8, UnsignedZero(parameters.x_zero, x_type) - 128,
                            plan.shape.in_channels() * 9);
  auto* const offsets = static_cast<int32_t*>(scratch);
  auto* const scales = reinterpret_cast<float*>(offsets + PaddedBytes64(n));
  for (int64_t i = 0; i < PaddedBytes64(n); ++i) {
    const int64_t channel = std::min(i, n - 1);
    offsets[i] = columns.Offset(channel, sums[i]);
    scales[i] = columns.Scale(channel);
  }
  ByteResult result = BindByteResult(parameters, out->dtype());
  result.data = out->mutable_raw_data();
  result.stride = plan.shape.out_pixel_stride;
  result.offsets = offsets;
  if (parameters.scale != nullptr) result.scales = scales;
  return result;
}

}  // namespace wherry::cpu
