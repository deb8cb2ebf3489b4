#include "kernels/cpu/conv/conv_algorithm.h"

#include <algorithm>

#include "kernels/cpu/conv/depthwise.h"
#include "kernels/cpu/conv/implicit_gemm.h"
#include "kernels/cpu/conv/winograd.h"

namespace wherry::cpu {
namespace {

// Costs are in slots: the time of one multiply-add on a vector of 16 floats, two of which a core starts each cycle. On
// narrower vectors everything but memory takes proportionally longer, so the comparison holds.

// Calling a register tile, beyond its multiply-adds.
constexpr double kTileSlots = 80;

// Transforming one tile of one vector of channels, either way: loads, stores and some 12 operations for each of the
// 2 m + 4 one-dimensional transforms; measured 110-180 cycles for F(4,3).
double TransformSlots(WinogradSize size) { return size == WinogradSize::kF4 ? 300 : 110; }

// A float of packed weight read from the last cache level or memory: some 13 bytes a cycle.
constexpr double kWeightSlots = 0.6;
// Weights up to this many floats stay in a core's second-level cache between blocks.
constexpr int64_t kCachedWeightFloats = 160 * 1024;

// How much longer the slowest thread works than all of them together would, shared out evenly.
double Imbalance(int64_t units, int threads) {
  if (units == 0) return 1;
  const int64_t rounds = (units + threads - 1) / threads;
  return static_cast<double>(rounds * threads) / static_cast<double>(units);
}

// Vectors that the channels take, padded to whole panel steps.
int64_t VectorsOf(int64_t channels) { return PaddedColumns(channels) / kPanelStep; }

// Register tiles that so many rows take, six each.
int64_t RegisterTilesOf(int64_t rows) { return (rows + 5) / 6; }

double DirectSlots(const ConvShape& shape, int threads) {
  const ImplicitGemmPlan plan(shape, ImageForm::kNhwc, threads);
  const double vectors = static_cast<double>(VectorsOf(shape.weight.out_channels));
  double slots = 0;
  for (const ImplicitGemmPlan::PixelClass& c : plan.classes) {
    const int64_t depth = c.runs.outer_count * c.runs.inner_count * c.runs.length;
    slots += static_cast<double>(c.pixels * depth) * vectors;
    slots += static_cast<double>(RegisterTilesOf(c.pixels) * plan.panels_per_group) * kTileSlots;
  }
  const double weights = static_cast<double>(ImplicitGemmPackedSize(shape.weight)) * kWeightSlots;
  return std::max(slots, weights) * Imbalance(plan.pixel_chunks * plan.panel_chunks, threads);
}

double WinogradSlots(const ConvShape& shape, WinogradSize size, int threads) {
  const WinogradPlan plan(shape, size, threads);
  const double tiles = static_cast<double>(plan.tiles);
  const double points = static_cast<double>(plan.points());
  const double in_vectors = static_cast<double>(VectorsOf(shape.in_channels()));
  const double out_vectors = static_cast<double>(VectorsOf(shape.weight.out_channels));
  const double products =
      tiles * points * static_cast<double>(shape.in_channels()) * out_vectors +
      static_cast<double>(plan.blocks * RegisterTilesOf(plan.block_tiles) * plan.panels) * points * kTileSlots;
  const int64_t weight = WinogradPackedSize(shape.weight, size);
  // A block of few tiles is bound by reading the weight: 16.8 MB for F(2,3) and 37.7 MB for F(4,3) at 7x7x512, which is
  // why the former wins there though it multiplies 1.8 times as much.
  const double reads = static_cast<double>(weight * (weight <= kCachedWeightFloats ? 1 : plan.blocks)) * kWeightSlots;
  const double transforms = tiles * (in_vectors + out_vectors) * TransformSlots(size);
  return (std::max(products, reads) + transforms) * Imbalance(plan.share_panels ? plan.panels : plan.blocks, threads);
}

}  // namespace

const char* ConvAlgorithmName(ConvAlgorithm algorithm) {
  switch (algorithm) {
    case ConvAlgorithm::kDirect: return "direct";
    case ConvAlgorithm::kGemm: return "gemm";
    case ConvAlgorithm::kWinograd2: return "winograd2";
    case ConvAlgorithm::kWinograd4: return "winograd4";
    case ConvAlgorithm::kDepthwise: return "depthwise";
  }
  return "?";
}

bool CanRun(ConvAlgorithm algorithm, const ConvShape& shape) {
  const ConvWeightShape& w = shape.weight;
  const bool unit_stride = shape.stride_height == 1 && shape.stride_width == 1;
  switch (algorithm) {
    case ConvAlgorithm::kDirect: return true;
    case ConvAlgorithm::kGemm:
      return w.groups == 1 && w.taps() == 1 && unit_stride && shape.pad_top == 0 && shape.pad_bottom == 0 &&
             shape.pad_left == 0 && shape.pad_right == 0;
    case ConvAlgorithm::kWinograd2:
    case ConvAlgorithm::kWinograd4:
      return w.groups == 1 && w.kernel_height == 3 && w.kernel_width == 3 && unit_stride &&
             shape.dilation_height == 1 && shape.dilation_width == 1;
    case ConvAlgorithm::kDepthwise: return IsDepthwise(w);
  }
  return false;
}

ConvAlgorithm ChooseConvAlgorithm(const ConvShape& shape, int threads) {
  // A group of one channel leaves 15 of 16 lanes of a panel empty, and a 1x1 kernel is a plain product: no contest.
  if (CanRun(ConvAlgorithm::kDepthwise, shape)) return ConvAlgorithm::kDepthwise;
  if (CanRun(ConvAlgorithm::kGemm, shape)) return ConvAlgorithm::kGemm;
  if (!CanRun(ConvAlgorithm::kWinograd4, shape)) return ConvAlgorithm::kDirect;
  // F(4,3) does 2.25 multiplications where direct does 9, F(2,3) does 4. Against that stand the transforms, which weigh
  // more the fewer channels there are (below about 8 in or out direct wins), tiles that stick out of the image, and
  // reading 4 or 1.8 times the weight.
  const double direct = DirectSlots(shape, threads);
  const double winograd2 = WinogradSlots(shape, WinogradSize::kF2, threads);
  const double winograd4 = WinogradSlots(shape, WinogradSize::kF4, threads);
  if (direct <= std::min(winograd2, winograd4)) return ConvAlgorithm::kDirect;
  return winograd4 <= winograd2 ? ConvAlgorithm::kWinograd4 : ConvAlgorithm::kWinograd2;
}

}  // namespace wherry::cpu
