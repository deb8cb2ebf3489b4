#include <algorithm>
#include <cstring>

#include "kernels/cpu/quantized/byte_conv.h"
#include "kernels/cpu/quantized/byte_depthwise_tile.h"
#include "kernels/cpu/share_out.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/quantized/byte_depthwise.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/quantized/byte_dot-inl.h"
#include "kernels/cpu/quantized/byte_result-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

constexpr int64_t kVectorBytes = 4 * kLanes;  // channels of a vector of bytes
constexpr int kPairs = ByteDepthwiseTile::kPairs;

// What a side's sums in acc gain by the four columns in each lane, whose weights lie at w: bytes, or without the
// instruction for them words, those of columns 0 and 2 before those of 1 and 3.
template <bool kDot>
HWY_INLINE IntVec AddFour(IntVec acc, IntVec x, const int8_t* w) {
  if constexpr (kDot) return Dot(acc, x, hn::LoadU(IntTag(), reinterpret_cast<const int32_t*>(w)));
  const WordTag words;
  const auto* const even = reinterpret_cast<const int16_t*>(w);
  const WordVec x_even = hn::BitCast(words, hn::And(x, hn::Set(IntTag(), 0x00FF00FF)));
  const WordVec x_odd = hn::BitCast(words, hn::ShiftRight<8>(hn::BitCast(hn::RebindToUnsigned<WordTag>(), x)));
  acc = AddInPlace(acc, x_even, hn::LoadU(words, even));
  return AddInPlace(acc, x_odd, hn::LoadU(words, even + kByteBlock / 2));
}
// The same with one set of four weights for all lanes.
template <bool kDot>
HWY_INLINE IntVec AddOnes(IntVec acc, IntVec x, int32_t ones) {
  const IntTag tag;
  if constexpr (kDot) return Dot(acc, x, hn::Set(tag, ones));
  const WordTag words;
  const auto low = hn::Set(tag, 0x00FF00FF);
  const auto split = [&](IntVec v) HWY_ATTR { return hn::BitCast(words, hn::And(v, low)); };
  acc = AddWordProducts(acc, split(x), split(hn::Set(tag, ones)));
  return AddWordProducts(acc, split(hn::ShiftRight<8>(x)), split(hn::Set(tag, ones >> 8)));
}

// Sums of a pixel's channels [c, c + live), in the order of InterleavedChannel; `at` is where theirs begin there.
HWY_INLINE void StoreInterleaved(const ByteResult& r, const IntVec (&sums)[4], int64_t at, int64_t pixel, int64_t c,
                                 int64_t live) {
  const IntTag tag;
  constexpr int64_t kStep = kByteBlock / 4;
  if (r.kind == ResultKind::kInt8 || r.kind == ResultKind::kUInt8) {
    FloatVec scaled[4];
    WHERRY_UNROLL
    for (int q = 0; q < 4; ++q) {
      const IntVec sum = hn::Add(sums[q], hn::LoadU(tag, r.offsets + at + q * kStep));
      scaled[q] = hn::Mul(hn::ConvertTo(FloatTag(), sum), Load(r.scales + at + q * kStep));
    }
    StoreFirstBytes(ByteTag(), ByteRounding(r).Pack(scaled[0], scaled[1], scaled[2], scaled[3]),
                    static_cast<uint8_t*>(r.data) + pixel * r.stride + c, live);
    return;
  }
  HWY_ALIGN float values[4 * kLanes];
  for (int q = 0; q < 4; ++q) {
    const IntVec sum = hn::Add(sums[q], hn::LoadU(tag, r.offsets + at + q * kStep));
    FloatVec value = hn::BitCast(FloatTag(), sum);
    if (r.kind == ResultKind::kFloat) {
      value = hn::Mul(hn::ConvertTo(FloatTag(), sum), Load(r.scales + at + q * kStep));
    }
    hn::Store(value, FloatTag(), values + q * kLanes);
  }
  float* const to = static_cast<float*>(r.data) + pixel * r.stride + c;
  for (int64_t i = 0; i < std::min(live, kVectorBytes); ++i) {
    std::memcpy(to + i, values + i % 16 / 4 * kLanes + i / 16 * 4 + i % 4, sizeof(float));
  }
}

// The bytes of four columns side by side, as InterleavedChannel says.
HWY_INLINE void Interleave(const ByteVec (&x)[4], IntVec (&lanes)[4]) {
  const IntTag tag;
  const ByteTag bytes;
  const hn::RebindToUnsigned<WordTag> words;
  const auto low01 = hn::BitCast(words, hn::InterleaveLower(bytes, x[0], x[1]));
  const auto low23 = hn::BitCast(words, hn::InterleaveLower(bytes, x[2], x[3]));
  const auto high01 = hn::BitCast(words, hn::InterleaveUpper(bytes, x[0], x[1]));
  const auto high23 = hn::BitCast(words, hn::InterleaveUpper(bytes, x[2], x[3]));
  lanes[0] = hn::BitCast(tag, hn::InterleaveLower(words, low01, low23));
  lanes[1] = hn::BitCast(tag, hn::InterleaveUpper(words, low01, low23));
  lanes[2] = hn::BitCast(tag, hn::InterleaveLower(words, high01, high23));
  lanes[3] = hn::BitCast(tag, hn::InterleaveUpper(words, high01, high23));
}

// A vector of channels from c on of pairs [first, first + P).
template <bool kDot, bool kZeros, int P>
HWY_INLINE void RunChannels(const ByteDepthwiseTile& tile, const ByteResult& result, int first, int64_t c) {
  const IntTag tag;
  IntVec acc[2 * P][4];
  IntVec seen[2 * P][4];  // sums of what the taps met
  WHERRY_UNROLL
  for (int p = 0; p < 2 * P; ++p) {
    WHERRY_UNROLL
    for (int q = 0; q < 4; ++q) acc[p][q] = seen[p][q] = hn::Zero(tag);
  }
  const int64_t block = c / kByteBlock;
  const int64_t within = c % kByteBlock / 4;  // where a vector's first 16 channels lie in their block's order
  constexpr int64_t kWidth = kDot ? 1 : 2;    // of a weight
  const int8_t* w = tile.weights + block * tile.fours * kFourBytes * kWidth + within * 4;
  const uint8_t* const* columns = tile.columns + first;
  for (int64_t four = 0; four < tile.fours; ++four, w += kFourBytes * kWidth, columns += 4 * kPairs) {
    WHERRY_UNROLL
    for (int pair = 0; pair < P; ++pair) {
      ByteVec x[4];
      WHERRY_UNROLL
      for (int i = 0; i < 4; ++i) x[i] = hn::LoadU(ByteTag(), columns[i * kPairs + pair] + c);
      if (tile.is_signed) {
        WHERRY_UNROLL
        for (int i = 0; i < 4; ++i) x[i] = hn::Xor(x[i], hn::Set(ByteTag(), 0x80));
      }
      IntVec lanes[4];
      Interleave(x, lanes);
      WHERRY_UNROLL
      for (int q = 0; q < 4; ++q) {
        WHERRY_UNROLL
        for (int side = 0; side < 2; ++side) {
          const int p = 2 * pair + side;
          acc[p][q] = AddFour<kDot>(acc[p][q], lanes[q], w + (side * 4 + q) * kByteBlock * kWidth);
          if constexpr (kZeros) seen[p][q] = AddOnes<kDot>(seen[p][q], lanes[q], tile.ones[2 * four + side]);
        }
      }
    }
  }
  const int64_t at = block * kByteBlock + within;
  WHERRY_UNROLL
  for (int p = 0; p < 2 * P; ++p) {
    const int64_t pixel = 2 * first + p;
    if (pixel >= tile.pixels) break;
    if constexpr (kZeros) {
      WHERRY_UNROLL
      for (int q = 0; q < 4; ++q) {
        const IntVec zeros = hn::LoadU(tag, result.weight_zeros + at + q * (kByteBlock / 4));
        acc[p][q] = hn::Sub(acc[p][q], hn::Mul(seen[p][q], zeros));
      }
    }
    StoreInterleaved(result, acc[p], at, tile.pixel + pixel, c, tile.channels - c);
  }
}

template <bool kDot, bool kZeros>
HWY_NOINLINE void RunTile(const ByteDepthwiseTile& tile) {
  constexpr int kStep = HWY_TARGET != HWY_AVX3 || kZeros || !kDot ? 1 : kPairs;  // by the registers there are
  const ByteResult result = tile.result;  // a copy: what is stored could be the original
  for (int first = 0; 2 * first < tile.pixels; first += kStep) {
    for (int64_t c = 0; c < tile.channels; c += kVectorBytes) {
      RunChannels<kDot, kZeros, kStep>(tile, result, first, c);
    }
  }
}

void DepthwiseTile(const ByteDepthwiseTile& tile) {
  const bool zeros = tile.result.weight_zeros != nullptr;
  if constexpr (kByteDot) {
    if (tile.dot) return zeros ? RunTile<true, true>(tile) : RunTile<true, false>(tile);
  }
  zeros ? RunTile<false, true>(tile) : RunTile<false, false>(tile);
}

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {
namespace {

constexpr int64_t kPairs = ByteDepthwiseTile::kPairs;

// What is made at each run, in scratch memory: parameters first, then each worker's pointers.
struct DepthwiseScratch {
  DepthwiseScratch(const ByteDepthwisePlan& plan, void* memory)
      : width(PaddedBytes64(plan.shape.weight.out_channels)),
        worker_pointers(4 * plan.windows.fours() * kPairs),
        offsets(static_cast<int32_t*>(memory)),
        scales(reinterpret_cast<float*>(offsets + width)),
        zeros(offsets + 2 * width),
        pad(reinterpret_cast<uint8_t*>(zeros + width)),
        tail(pad + width),
        pointers(reinterpret_cast<const uint8_t**>(tail + width + kByteBlock)) {}
  static size_t Bytes(const ByteDepthwisePlan& plan) {
    const DepthwiseScratch none(plan, nullptr);
    return static_cast<size_t>(none.width) * (3 * sizeof(int32_t) + 2) + static_cast<size_t>(kByteBlock) +
           static_cast<size_t>(plan.workers * none.worker_pointers) * sizeof(const uint8_t*);
  }

  int64_t width;
  int64_t worker_pointers;
  int32_t* offsets;
  float* scales;
  int32_t* zeros;
  uint8_t* pad;   // a pixel of padding
  uint8_t* tail;  // the image's end, with bytes behind it
  const uint8_t** pointers;
};

// Whether weights have zero points.
bool FillParameters(const ByteDepthwisePlan& plan, const void* packed, const DenseTensor& x, const DenseTensor& filter,
                    const ByteParameters& given, const DepthwiseScratch& scratch) {
  const int32_t x_zero = UnsignedZero(given.x_zero, x.dtype());
  std::memset(scratch.pad, x.dtype() == DataType::kInt8 ? x_zero - 128 : x_zero, static_cast<size_t>(scratch.width));
  const ConvWeightShape& weight = plan.shape.weight;
  const auto* const sums = reinterpret_cast<const int32_t*>(static_cast<const char*>(packed) +
                                                            plan.windows.WeightBytes(weight.out_channels));
  const ByteColumns columns(given, filter.dtype(), x_zero, weight.taps());
  for (int64_t c = 0; c < scratch.width; ++c) {
    const int64_t channel = std::min(c, weight.out_channels - 1);
    const int64_t at = InterleavedChannel(c);
    scratch.offsets[at] = columns.Offset(channel, sums[c]);
    scratch.zeros[at] = columns.WeightZero(channel);
    scratch.scales[at] = columns.Scale(channel);
  }
  return columns.has_weight_zeros();
}

// The image's pixels, from a number on in a copy that may be read a block past its end.
class Pixels {
 public:
  Pixels(const ConvShape& shape, const uint8_t* image, uint8_t* tail)
      : image_(image), tail_(tail), stride_(shape.in_pixel_stride) {
    const int64_t count = shape.batch * shape.in_height * shape.in_width;
    const int64_t channels = shape.weight.out_channels;
    // The last ones whose blocks reach past the image's end.
    const int64_t past = PaddedBytes64(channels) - channels;
    const int64_t copied = std::min(count, (past + stride_ - 1) / stride_);
    safe_ = count - copied;
    for (int64_t i = 0; i < copied; ++i) {
      std::memcpy(tail_ + i * stride_, image + (safe_ + i) * stride_, static_cast<size_t>(channels));
    }
  }
  // Of the first of `count` pixels that lie as in the image; null if not all of them do.
  const uint8_t* Whole(int64_t i, int64_t count) const { return i + count <= safe_ ? image_ + i * stride_ : nullptr; }
  const uint8_t* At(int64_t i) const { return i < safe_ ? image_ + i * stride_ : tail_ + (i - safe_) * stride_; }

 private:
  const uint8_t* image_;
  uint8_t* tail_;
  int64_t stride_;
  int64_t safe_;
};

}  // namespace

ByteDepthwisePlan::ByteDepthwisePlan(const ConvShape& conv, int threads)
    : shape(conv),
      windows(conv.weight.kernel_height, conv.weight.kernel_width, conv.stride_width, conv.dilation_width,
              !HasByteDot(ActiveIsa())) {
  constexpr double kMinWork = 1 << 17;  // multiply-adds of a worker
  const double work = static_cast<double>(conv.out_pixels()) * static_cast<double>(conv.weight.elements());
  workers = static_cast<int64_t>(std::clamp<double>(work / kMinWork, 1, threads));
  scratch_bytes = DepthwiseScratch::Bytes(*this);
}

void RunByteDepthwise(const ByteDepthwisePlan& plan, const void* packed, const DenseTensor& x,
                      const DenseTensor& filter, const ByteParameters& parameters, DenseTensor* out, void* scratch,
                      ThreadPool* pool) {
  const ConvShape& shape = plan.shape;
  const DepthwiseScratch made(plan, scratch);
  const bool has_zeros = FillParameters(plan, packed, x, filter, parameters, made);
  const Pixels image(shape, static_cast<const uint8_t*>(x.raw_data()), made.tail);
  ByteDepthwiseTile tile;
  tile.fours = plan.windows.fours();
  tile.weights = static_cast<const int8_t*>(packed);
  tile.ones = plan.windows.ones.data();
  tile.channels = shape.weight.out_channels;
  tile.is_signed = x.dtype() == DataType::kInt8;
  tile.dot = HasByteDot(ActiveIsa());
  tile.result = BindByteResult(parameters, out->dtype());
  tile.result.data = out->mutable_raw_data();
  tile.result.stride = shape.out_pixel_stride;
  tile.result.offsets = made.offsets;
  if (parameters.scale != nullptr) tile.result.scales = made.scales;
  if (has_zeros) tile.result.weight_zeros = made.zeros;
  const int64_t out_width = shape.out_width();
  const int64_t out_height = shape.out_height();
  const auto run_tile = WHERRY_ISA_CALL(DepthwiseTile);
  // Bytes from one tile's pixels to the next's.
  const int64_t step = ByteDepthwiseTile::kPixels * shape.stride_width * shape.in_pixel_stride;
  // Columns of all pairs of a tile, from the first to the last.
  const int64_t span = plan.windows.columns.back() + 2 * (kPairs - 1) * shape.stride_width + 1;

  const auto run_row = [&](int64_t row, const uint8_t** pointers) {
    const int64_t n = row / out_height;
    const int64_t top = row % out_height * shape.stride_height - shape.pad_top;
    const int64_t bottom = top + (shape.weight.kernel_height - 1) * shape.dilation_height;
    ByteDepthwiseTile at = tile;
    at.columns = pointers;
    std::fill_n(pointers, made.worker_pointers, made.pad);  // the last four columns may be fewer
    const int64_t used = shape.weight.kernel_height * static_cast<int64_t>(plan.windows.columns.size()) * kPairs;
    bool was_inside = false;  // all lines of the tile before
    for (int64_t first = 0; first < out_width; first += ByteDepthwiseTile::kPixels) {
      at.pixel = row * out_width + first;
      at.pixels = std::min(ByteDepthwiseTile::kPixels, out_width - first);
      const int64_t left = first * shape.stride_width - shape.pad_left;
      bool is_inside = left >= 0 && left + span <= shape.in_width && top >= 0 && bottom < shape.in_height;
      is_inside = is_inside && image.Whole((n * shape.in_height + bottom) * shape.in_width + left, span) != nullptr;
      if (is_inside && was_inside) {
        for (int64_t i = 0; i < used; ++i) pointers[i] += step;
        run_tile(at);
        continue;
      }
      was_inside = is_inside;
      const uint8_t** to = pointers;
      for (int64_t kh = 0; kh < shape.weight.kernel_height; ++kh) {
        const int64_t y = top + kh * shape.dilation_height;
        const bool has_line = y >= 0 && y < shape.in_height;
        const int64_t line = (n * shape.in_height + y) * shape.in_width;
        const bool inside = has_line && left >= 0 && left + span <= shape.in_width;
        const uint8_t* const whole = inside ? image.Whole(line + left, span) : nullptr;
        for (const int64_t column : plan.windows.columns) {
          for (int64_t pair = 0; pair < kPairs; ++pair) {
            const int64_t ahead = column + 2 * pair * shape.stride_width;
            if (whole != nullptr) {
              *to++ = whole + ahead * shape.in_pixel_stride;
              continue;
            }
            const int64_t i = left + ahead;
            *to++ = has_line && i >= 0 && i < shape.in_width ? image.At(line + i) : made.pad;
          }
        }
      }
      run_tile(at);
    }
  };
  ShareOut(pool, plan.workers, shape.batch * out_height, [&](int64_t worker, const auto& next) {
    const uint8_t** const pointers = made.pointers + worker * made.worker_pointers;
    for (int64_t row = next(); row >= 0; row = next()) run_row(row, pointers);
  });
}

}  // namespace wherry::cpu
#endif  // HWY_ONCE
