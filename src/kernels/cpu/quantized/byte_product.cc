#include "kernels/cpu/quantized/byte_product.h"

#include <algorithm>

#include "kernels/cpu/share_out.h"
#include "kernels/cpu/simd/isa.h"

namespace wherry::cpu {
namespace {

int32_t ByteAt(const DenseTensor& tensor, int64_t i) {
  if (tensor.numel() == 1) i = 0;
  return tensor.dtype() == DataType::kInt8 ? tensor.data<int8_t>()[i] : tensor.data<uint8_t>()[i];
}

template <typename T>
T At(const DenseTensor& tensor, int64_t i) {
  return tensor.data<T>()[tensor.numel() == 1 ? 0 : i];
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
  bool has_zeros = false;
  for (int64_t group = 0; group < shape.groups; ++group) {
    const int32_t* const sums = PackedColumnSums(
        static_cast<const char*>(product.packed) + group * PackedByteSize(shape.k, shape.n), shape.k, shape.n);
    for (int64_t i = 0; i < width; ++i) {
      const int64_t at = group * width + i;
      const int64_t channel = group * shape.n + std::min(i, shape.n - 1);
      const int32_t zero = SignedZeroAt(given.weight_zero, product.weight_type, channel);
      uint32_t offset = given.bias == nullptr ? 0 : static_cast<uint32_t>(At<int32_t>(*given.bias, channel));
      offset -= static_cast<uint32_t>(x_zero) * static_cast<uint32_t>(sums[i]);
      offset += static_cast<uint32_t>(shape.k) * static_cast<uint32_t>(x_zero) * static_cast<uint32_t>(zero);
      offsets[at] = static_cast<int32_t>(offset);
      zeros[at] = zero;
      has_zeros = has_zeros || zero != 0;
      if (given.scale != nullptr) scales[at] = At<float>(*given.scale, channel);
    }
  }
  result.offsets = offsets;
  if (given.scale != nullptr) result.scales = scales;
  if (has_zeros) result.weight_zeros = zeros;
  return result;
}

int32_t SumOf(const uint8_t* row, int64_t k) {
  uint32_t sum = 0;
  for (int64_t i = 0; i < k; ++i) sum += row[i];
  return static_cast<int32_t>(sum);
}

}  // namespace

ByteProductPlan::ByteProductPlan(const ByteProductShape& product, int threads) : shape(product) {
  // A block's rows stay in L2 while all panels pass by; a few tiles of rows at least use each panel that is read.
  constexpr int64_t kBlockBytes = int64_t{96} << 10;
  constexpr int64_t kTileRows = 6;
  constexpr int64_t kChunksPerThread = 4;
  // Chunks of less than this many multiply-adds are not worth claiming.
  constexpr double kMinWork = 1 << 20;
  const int64_t depth = std::max<int64_t>(4, PaddedDepth(shape.k));
  const double work = static_cast<double>(shape.rows) * static_cast<double>(shape.parameters() * depth);
  const double chunks = std::clamp<double>(work / kMinWork, 1, static_cast<double>(threads * kChunksPerThread));
  const int64_t wanted = threads == 1 ? 1 : static_cast<int64_t>(chunks);
  block_rows = std::clamp<int64_t>(kBlockBytes / depth / kTileRows, 4, 64) * kTileRows;
  const int64_t share = (shape.rows * shape.groups + wanted - 1) / wanted;
  block_rows = std::clamp<int64_t>((share + kTileRows - 1) / kTileRows * kTileRows, kTileRows, block_rows);
  row_blocks = (shape.rows + block_rows - 1) / block_rows;
  if (row_blocks * shape.groups < wanted) {
    panel_blocks = std::min(shape.panels(), wanted / std::max<int64_t>(1, row_blocks * shape.groups));
  }
  panel_blocks = std::max<int64_t>(1, panel_blocks);
  workers = std::clamp<int64_t>(row_blocks * panel_blocks * shape.groups, 1, wanted == 1 ? 1 : threads);
  worker_bytes = (block_rows * (depth + static_cast<int64_t>(sizeof(int32_t))) + 63) / 64 * 64;
  parameter_bytes = 3 * shape.parameters() * static_cast<int64_t>(sizeof(int32_t));
}

int32_t UnsignedZero(const DenseTensor* zero, DataType dtype) {
  return (zero == nullptr ? 0 : ByteAt(*zero, 0)) + (dtype == DataType::kInt8 ? 128 : 0);
}

int32_t SignedZeroAt(const DenseTensor* zero, DataType dtype, int64_t i) {
  return (zero == nullptr ? 0 : ByteAt(*zero, i)) - (dtype == DataType::kUInt8 ? 128 : 0);
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
  result.zero = parameters.out_zero == nullptr ? 0 : ByteAt(*parameters.out_zero, 0);
  result.least = static_cast<float>(std::max(parameters.low, is_signed ? -128 : 0) - result.zero);
  result.most = static_cast<float>(std::min(parameters.high, is_signed ? 127 : 255) - result.zero);
  return result;
}

void RunByteProduct(const ByteProduct& product, FillRows fill, void* scratch, ThreadPool* pool) {
  const ByteProductPlan& plan = product.plan;
  const ByteProductShape& shape = plan.shape;
  if (shape.rows == 0 || shape.n == 0) return;
  const int32_t x_zero = UnsignedZero(product.parameters.x_zero, product.x_type);
  const ByteResult result = MakeParameters(product, x_zero, scratch);
  char* const buffers = static_cast<char*>(scratch) + plan.parameter_bytes;
  const Isa isa = ActiveIsa();
  const bool dot = HasByteDot(isa);
  const int64_t stride = std::max<int64_t>(4, PaddedDepth(shape.k));
  const int64_t chunks = plan.row_blocks * plan.panel_blocks;
  ShareOut(pool, plan.workers, chunks * shape.groups, [&](int64_t worker, const auto& next) {
    auto* const buffer = reinterpret_cast<uint8_t*>(buffers + worker * plan.worker_bytes);
    auto* const sums = reinterpret_cast<int32_t*>(buffer + plan.block_rows * stride);
    for (int64_t item = next(); item >= 0; item = next()) {
      const int64_t group = item / chunks;
      const int64_t panel_block = item % plan.panel_blocks;
      ByteGemmCall call;
      call.row0 = item % chunks / plan.panel_blocks * plan.block_rows;
      call.rows = std::min(plan.block_rows, shape.rows - call.row0);
      call.n = shape.n;
      call.k = shape.k;
      call.panel_begin = shape.panels() * panel_block / plan.panel_blocks;
      call.panel_end = shape.panels() * (panel_block + 1) / plan.panel_blocks;
      call.packed = static_cast<const char*>(product.packed) + group * PackedByteSize(shape.k, shape.n);
      call.result = result.From(group * shape.n, group * PaddedBytes64(shape.n));
      if (product.in_place.data != nullptr) {
        call.a = product.in_place.data + call.row0 * product.in_place.stride;
        call.a_stride = product.in_place.stride;
      } else {
        fill(group, call.row0, call.rows, buffer, stride);
        call.a = buffer;
        call.a_stride = stride;
      }
      if (result.weight_zeros != nullptr) {
        for (int64_t r = 0; r < call.rows; ++r) sums[r] = SumOf(call.a + r * call.a_stride, shape.k);
        call.row_sums = sums;
      }
      RunByteGemm(call, isa, dot);
    }
  });
}

}  // namespace wherry::cpu
