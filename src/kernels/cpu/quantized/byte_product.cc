#include "kernels/cpu/quantized/byte_product.h"

#include <algorithm>

#include "kernels/cpu/gemm/amx_tile.h"
#include "kernels/cpu/share_out.h"
#include "kernels/cpu/simd/isa.h"

namespace wherry::cpu {
namespace {

int32_t FirstByte(const DenseTensor& tensor) {
  return tensor.dtype() == DataType::kInt8 ? tensor.data<int8_t>()[0] : tensor.data<uint8_t>()[0];
}

// The arrays of a result, in scratch memory: what does not depend on the rows is in `offsets`.
ByteResult MakeParameters(const ByteProduct& product, int32_t x_zero, void* scratch) {
  const ByteProductShape& shape = product.plan.shape;
  const ByteParameters& given = product.parameters;
  ByteResult result = BindByteResult(given, product.out_type);
  result.data = product.out;
  result.stride = product.out_stride;
  auto* const offsets = static_cast<int32_t*>(scratch);
  auto* const scales = reinterpret_cast<float*>(offsets + shape.parameters());
  auto* const zeros = offsets + 2 * shape.parameters();
  const int64_t width = PaddedBytes64(shape.n);
  const ByteColumns columns(given, product.weight_type, x_zero, shape.k());
  for (int64_t group = 0; group < shape.groups; ++group) {
    const int32_t* const sums =
        PackedColumnSums(static_cast<const char*>(product.packed) + group * PackedByteSize(shape.packed_k(), shape.n),
                         shape.packed_k(), shape.n);
    for (int64_t i = 0; i < width; ++i) {
      const int64_t at = group * width + i;
      const int64_t channel = group * shape.n + std::min(i, shape.n - 1);
      offsets[at] = columns.Offset(channel, sums[i]);
      zeros[at] = columns.WeightZero(channel);
      scales[at] = columns.Scale(channel);
    }
  }
  result.offsets = offsets;
  if (given.scale != nullptr) result.scales = scales;
  if (columns.has_weight_zeros()) result.weight_zeros = zeros;
  return result;
}

int32_t SumOfRow(const ByteRows& rows, int64_t row, int64_t depth) {
  uint32_t sum = 0;
  for (int64_t s = 0; s < rows.segment_count; ++s) {
    const uint8_t* const segment = rows.segments[s * rows.pitch + row];
    for (int64_t i = 0; i < depth; ++i) sum += segment[i];
  }
  return static_cast<int32_t>(sum);
}

}  // namespace

ByteProductPlan::ByteProductPlan(const ByteProductShape& product, int threads) : shape(product) {
  // A block's rows stay in L2 while all panels pass by; a few tiles of rows at least use each panel that is read.
  constexpr int64_t kBlockBytes = int64_t{96} << 10;
  row_form = PickRowForm(ActiveByteLayout(), ActiveIsa(), shape.rows);
  const int64_t tile_rows = row_form == ByteRowForm::kTiles ? kAmxRows : 6;
  constexpr int64_t kChunksPerThread = 4;
  // Chunks of less than this many multiply-adds are not worth claiming.
  constexpr double kMinWork = 1 << 20;
  const int64_t depth = std::max<int64_t>(4, shape.packed_k());
  const double work = static_cast<double>(shape.rows) * static_cast<double>(shape.parameters() * depth);
  const double chunks = std::clamp<double>(work / kMinWork, 1, static_cast<double>(threads * kChunksPerThread));
  const int64_t wanted = threads == 1 ? 1 : static_cast<int64_t>(chunks);
  block_rows = std::clamp<int64_t>(kBlockBytes / depth / tile_rows, 4, 64) * tile_rows;
  const int64_t share = (shape.rows * shape.groups + wanted - 1) / wanted;
  block_rows = std::clamp<int64_t>((share + tile_rows - 1) / tile_rows * tile_rows, tile_rows, block_rows);
  row_blocks = (shape.rows + block_rows - 1) / block_rows;
  if (row_blocks * shape.groups < wanted) {
    panel_blocks = std::min(shape.panels(), wanted / std::max<int64_t>(1, row_blocks * shape.groups));
  }
  panel_blocks = std::max<int64_t>(1, panel_blocks);
  workers = std::clamp<int64_t>(row_blocks * panel_blocks * shape.groups, 1, wanted == 1 ? 1 : threads);
  const auto place_bytes = shape.segments * static_cast<int64_t>(sizeof(const uint8_t*));
  const int64_t form_bytes = RowScratchBytes(row_form, depth);
  const auto row_bytes = place_bytes + depth + form_bytes + static_cast<int64_t>(sizeof(int32_t));
  worker_bytes = (block_rows * row_bytes + depth + 63) / 64 * 64;
  parameter_bytes = 3 * shape.parameters() * static_cast<int64_t>(sizeof(int32_t));
}

int32_t UnsignedZero(const DenseTensor* zero, DataType dtype) {
  return (zero == nullptr ? 0 : FirstByte(*zero)) + (dtype == DataType::kInt8 ? 128 : 0);
}

ByteColumns::ByteColumns(const ByteParameters& given, DataType weight_type, int32_t x_zero, int64_t weights)
    : x_zero_(static_cast<uint32_t>(x_zero)),
      weights_(static_cast<uint32_t>(weights)),
      less_(weight_type == DataType::kUInt8 ? 128 : 0),
      is_signed_(weight_type == DataType::kInt8) {
  static constexpr float kNoScale = 0.0F;
  static constexpr int32_t kNoBias = 0;
  static constexpr uint8_t kNoZero = 0;
  const auto step = [](const DenseTensor* tensor) -> int64_t { return tensor->numel() == 1 ? 0 : 1; };
  scale_ = &kNoScale;
  if (given.scale != nullptr) {
    scale_ = given.scale->data<float>();
    scale_step_ = step(given.scale);
  }
  bias_ = &kNoBias;
  if (given.bias != nullptr) {
    bias_ = given.bias->data<int32_t>();
    bias_step_ = step(given.bias);
  }
  weight_zero_ = &kNoZero;
  if (given.weight_zero != nullptr) {
    weight_zero_ = static_cast<const uint8_t*>(given.weight_zero->raw_data());
    weight_zero_step_ = step(given.weight_zero);
  }
  const int64_t zeros = given.weight_zero == nullptr ? 1 : given.weight_zero->numel();
  for (int64_t i = 0; i < zeros; ++i) has_weight_zeros_ = has_weight_zeros_ || WeightZero(i) != 0;
}

ResultKind ResultKindOf(DataType dtype) {
  switch (dtype) {
    case DataType::kInt8: return ResultKind::kInt8;
    case DataType::kUInt8: return ResultKind::kUInt8;
    case DataType::kFloat: return ResultKind::kFloat;
    default: return ResultKind::kInt32;
  }
}

ByteResult BindByteResult(const ByteParameters& parameters, DataType dtype) {
  ByteResult result;
  result.kind = ResultKindOf(dtype);
  if (result.kind == ResultKind::kInt32 || result.kind == ResultKind::kFloat) return result;
  const bool is_signed = dtype == DataType::kInt8;
  result.zero = parameters.out_zero == nullptr ? 0 : FirstByte(*parameters.out_zero);
  result.least = static_cast<float>(std::max(parameters.low, is_signed ? -128 : 0) - result.zero);
  result.most = static_cast<float>(std::min(parameters.high, is_signed ? 127 : 255) - result.zero);
  return result;
}

void RunByteProduct(const ByteProduct& product, PlaceRows place, void* scratch, ThreadPool* pool) {
  const ByteProductPlan& plan = product.plan;
  const ByteProductShape& shape = plan.shape;
  if (shape.rows == 0 || shape.n == 0) return;
  const int32_t x_zero = UnsignedZero(product.parameters.x_zero, product.x_type);
  const ByteResult result = MakeParameters(product, x_zero, scratch);
  char* const buffers = static_cast<char*>(scratch) + plan.parameter_bytes;
  const Isa isa = ActiveIsa();
  const int64_t form_bytes = RowScratchBytes(plan.row_form, shape.packed_k());
  const int64_t chunks = plan.row_blocks * plan.panel_blocks;
  ShareOut(pool, plan.workers, chunks * shape.groups, [&](int64_t worker, const auto& next) {
    auto** const places = reinterpret_cast<const uint8_t**>(buffers + worker * plan.worker_bytes);
    auto* const sums = reinterpret_cast<int32_t*>(places + plan.block_rows * shape.segments);
    auto* const row_scratch = reinterpret_cast<uint8_t*>(sums + plan.block_rows);
    auto* const buffer = row_scratch + plan.block_rows * form_bytes;
    for (int64_t item = next(); item >= 0; item = next()) {
      const int64_t group = item / chunks;
      const int64_t panel_block = item % plan.panel_blocks;
      ByteGemmCall call;
      call.row0 = item % chunks / plan.panel_blocks * plan.block_rows;
      call.rows = std::min(plan.block_rows, shape.rows - call.row0);
      call.n = shape.n;
      call.panel_begin = shape.panels() * panel_block / plan.panel_blocks;
      call.panel_end = shape.panels() * (panel_block + 1) / plan.panel_blocks;
      call.packed = static_cast<const char*>(product.packed) + group * PackedByteSize(shape.packed_k(), shape.n);
      call.form = plan.row_form;
      call.row_scratch = row_scratch;
      call.result = result.From(group * shape.n, group * PaddedBytes64(shape.n));
      place(group, call.row0, call.rows, places, plan.block_rows, buffer);
      call.a = {places, plan.block_rows, shape.segments, PaddedDepth(shape.depth)};
      if (result.weight_zeros != nullptr) {
        for (int64_t r = 0; r < call.rows; ++r) sums[r] = SumOfRow(call.a, r, shape.depth);
        call.row_sums = sums;
      }
      RunByteGemm(call, isa);
    }
  });
}

}  // namespace wherry::cpu
