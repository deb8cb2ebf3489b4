#include <algorithm>
#include <cstring>

#include "kernels/cpu/quantized/byte_conv.h"
#include "kernels/cpu/quantized/byte_depthwise_tile.h"
#include "kernels/cpu/share_out.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/quantized/byte_depthwise.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/quantized/byte_result-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

template <typename T, bool kWhole>
HWY_INLINE IntVec LoadBytes(const uint8_t* p, int64_t live) {
  const hn::Rebind<T, IntTag> tag;
  if constexpr (kWhole) return hn::PromoteTo(IntTag(), hn::LoadU(tag, reinterpret_cast<const T*>(p)));
  HWY_ALIGN T buffer[kLanes] = {};
  std::memcpy(buffer, p, static_cast<size_t>(live));
  return hn::PromoteTo(IntTag(), hn::LoadU(tag, buffer));
}

// A vector of channels from c on, of which `live` are there.
template <typename T, bool kWhole>
HWY_INLINE void RunChannels(const ByteDepthwiseTile& tile, int64_t c, int64_t live) {
  constexpr int64_t kPixels = ByteDepthwiseTile::kPixels;
  const IntTag tag;
  const hn::Repartition<int16_t, IntTag> words;
  IntVec acc[kPixels];
  IntVec unused = hn::Zero(tag);
  WHERRY_UNROLL
  for (int64_t p = 0; p < kPixels; ++p) acc[p] = hn::Zero(tag);
  for (int64_t t = 0; t < tile.tap_count; ++t) {
    // Each lane's words are (x, its sign) and (w, 0): the sum of their products is x w.
    const auto w = hn::BitCast(words, hn::LoadU(tag, tile.weights + t * tile.width + c));
    WHERRY_UNROLL
    for (int64_t p = 0; p < kPixels; ++p) {
      const IntVec x = LoadBytes<T, kWhole>(tile.taps[t * kPixels + p] + c, live);
      acc[p] = hn::ReorderWidenMulAccumulate(tag, hn::BitCast(words, x), w, acc[p], unused);
    }
  }
  WHERRY_UNROLL
  for (int64_t p = 0; p < kPixels; ++p) {
    if (p < tile.pixels) StoreSums(tile.result, acc[p], 0, tile.pixel + p, c, live);
  }
}

template <typename T>
HWY_INLINE void RunTile(const ByteDepthwiseTile& tile) {
  int64_t c = 0;
  for (; c + kLanes <= tile.channels; c += kLanes) RunChannels<T, true>(tile, c, kLanes);
  if (c < tile.channels) RunChannels<T, false>(tile, c, tile.channels - c);
}

void DepthwiseTile(const ByteDepthwiseTile& tile) {
  if (tile.is_signed) return RunTile<int8_t>(tile);
  RunTile<uint8_t>(tile);
}

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {
namespace {

constexpr int64_t kPixels = ByteDepthwiseTile::kPixels;

// What is made at each run, in scratch memory: parameters and weights first, then each worker's pointers.
struct DepthwiseScratch {
  DepthwiseScratch(const ConvShape& shape, void* memory)
      : width(PaddedBytes64(shape.weight.out_channels)),
        taps(shape.weight.taps()),
        offsets(static_cast<int32_t*>(memory)),
        scales(reinterpret_cast<float*>(offsets + width)),
        weights(offsets + 2 * width),
        pad(reinterpret_cast<uint8_t*>(weights + taps * width)),
        pointers(reinterpret_cast<const uint8_t**>(pad + width)) {}
  static size_t Bytes(const ConvShape& shape, int64_t workers) {
    const int64_t width = PaddedBytes64(shape.weight.out_channels);
    const int64_t words = width * (2 + shape.weight.taps());
    const int64_t addresses = workers * shape.weight.taps() * kPixels;
    return static_cast<size_t>(words) * sizeof(int32_t) + static_cast<size_t>(width) +
           static_cast<size_t>(addresses) * sizeof(const uint8_t*);
  }

  int64_t width;
  int64_t taps;
  int32_t* offsets;
  float* scales;
  int32_t* weights;
  uint8_t* pad;
  const uint8_t** pointers;
};

void FillParameters(const ConvShape& shape, const DenseTensor& x, const DenseTensor& filter,
                    const ByteParameters& given, const DepthwiseScratch& scratch) {
  const int32_t x_zero = UnsignedZero(given.x_zero, x.dtype()) - (x.dtype() == DataType::kInt8 ? 128 : 0);
  const bool is_unsigned = filter.dtype() == DataType::kUInt8;
  const auto* const from = static_cast<const uint8_t*>(filter.raw_data());
  std::memset(scratch.pad, x_zero, static_cast<size_t>(scratch.width));
  for (int64_t c = 0; c < scratch.width; ++c) {
    const int64_t channel = std::min(c, shape.weight.out_channels - 1);
    const int32_t zero = SignedZeroAt(given.weight_zero, filter.dtype(), channel);
    int32_t sum = 0;
    for (int64_t t = 0; t < scratch.taps; ++t) {
      const uint8_t byte = from[channel * scratch.taps + t];
      const int32_t weight = static_cast<int8_t>(is_unsigned ? byte ^ 0x80 : byte) - zero;
      scratch.weights[t * scratch.width + c] = weight & 0xFFFF;
      sum += weight;
    }
    const auto at = [channel](const DenseTensor* tensor) { return tensor->numel() == 1 ? 0 : channel; };
    const int32_t bias = given.bias == nullptr ? 0 : given.bias->data<int32_t>()[at(given.bias)];
    scratch.offsets[c] =
        static_cast<int32_t>(static_cast<uint32_t>(bias) - static_cast<uint32_t>(x_zero) * static_cast<uint32_t>(sum));
    if (given.scale != nullptr) scratch.scales[c] = given.scale->data<float>()[at(given.scale)];
  }
}

}  // namespace

ByteDepthwisePlan::ByteDepthwisePlan(const ConvShape& conv, int threads) : shape(conv) {
  constexpr double kMinWork = 1 << 17;  // multiply-adds of a worker
  const double work = static_cast<double>(conv.out_pixels()) * static_cast<double>(conv.weight.elements());
  workers = static_cast<int64_t>(std::clamp<double>(work / kMinWork, 1, threads));
  scratch_bytes = DepthwiseScratch::Bytes(conv, workers);
}

void RunByteDepthwise(const ByteDepthwisePlan& plan, const DenseTensor& x, const DenseTensor& filter,
                      const ByteParameters& parameters, DenseTensor* out, void* scratch, ThreadPool* pool) {
  const ConvShape& shape = plan.shape;
  const DepthwiseScratch made(shape, scratch);
  FillParameters(shape, x, filter, parameters, made);
  ByteDepthwiseTile tile;
  tile.tap_count = made.taps;
  tile.weights = made.weights;
  tile.width = made.width;
  tile.channels = shape.weight.out_channels;
  tile.is_signed = x.dtype() == DataType::kInt8;
  tile.result = BindByteResult(parameters, out->dtype());
  tile.result.data = out->mutable_raw_data();
  tile.result.stride = shape.out_pixel_stride;
  tile.result.offsets = made.offsets;
  if (parameters.scale != nullptr) tile.result.scales = made.scales;
  const auto* const image = static_cast<const uint8_t*>(x.raw_data());
  const int64_t out_width = shape.out_width();
  const int64_t out_height = shape.out_height();
  const auto run_tile = WHERRY_ISA_CALL(DepthwiseTile);

  const auto run_row = [&](int64_t row, const uint8_t** pointers) {
    const int64_t n = row / out_height;
    const int64_t top = row % out_height * shape.stride_height - shape.pad_top;
    ByteDepthwiseTile at = tile;
    at.taps = pointers;
    for (int64_t first = 0; first < out_width; first += kPixels) {
      at.pixel = row * out_width + first;
      at.pixels = std::min(kPixels, out_width - first);
      const uint8_t** to = pointers;
      for (int64_t kh = 0; kh < shape.weight.kernel_height; ++kh) {
        const int64_t y = top + kh * shape.dilation_height;
        const bool has_line = y >= 0 && y < shape.in_height;
        const uint8_t* const line =
            has_line ? image + (n * shape.in_height + y) * shape.in_width * shape.in_pixel_stride : image;
        for (int64_t kw = 0; kw < shape.weight.kernel_width; ++kw, to += kPixels) {
          const int64_t column = first * shape.stride_width + kw * shape.dilation_width - shape.pad_left;
          const int64_t last = column + (kPixels - 1) * shape.stride_width;
          if (has_line && column >= 0 && last < shape.in_width) {
            const uint8_t* const from = line + column * shape.in_pixel_stride;
            for (int64_t p = 0; p < kPixels; ++p) to[p] = from + p * shape.stride_width * shape.in_pixel_stride;
            continue;
          }
          for (int64_t p = 0; p < kPixels; ++p) {
            const int64_t i = column + p * shape.stride_width;
            to[p] = has_line && i >= 0 && i < shape.in_width ? line + i * shape.in_pixel_stride : made.pad;
          }
        }
      }
      run_tile(at);
    }
  };
  ShareOut(pool, plan.workers, shape.batch * out_height, [&](int64_t worker, const auto& next) {
    const uint8_t** const pointers = made.pointers + worker * made.taps * kPixels;
    for (int64_t row = next(); row >= 0; row = next()) run_row(row, pointers);
  });
}

}  // namespace wherry::cpu
#endif  // HWY_ONCE
