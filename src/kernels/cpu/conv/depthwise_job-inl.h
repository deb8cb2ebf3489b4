// What the register tiles of depthwise convolution share: the job, how they read channels, and how their sums begin and
// end. Per-instruction-set header: the guard toggles.
#if defined(WHERRY_KERNELS_CPU_CONV_DEPTHWISE_JOB_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WHERRY_KERNELS_CPU_CONV_DEPTHWISE_JOB_INL_H_
#undef WHERRY_KERNELS_CPU_CONV_DEPTHWISE_JOB_INL_H_
#else
#define WHERRY_KERNELS_CPU_CONV_DEPTHWISE_JOB_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "kernels/cpu/conv/panel.h"
#include "kernels/cpu/simd/activation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {

// A tile of outputs and all it needs. Rows and columns of the input count from what the tile's first tap reads, which
// may lie outside the image.
struct DepthwiseJob {
  const float* in;  // row 0, column 0; dereferenced only inside the image
  // Where channels have several outputs, `in` is at the pixel's first channel, and sources says which one is each
  // output's.
  const int32_t* sources;
  int64_t in_channels;  // of a pixel
  int64_t in_row;
  int64_t in_pixel;
  int64_t row_begin;  // input rows and columns inside the image
  int64_t row_end;
  int64_t column_begin;
  int64_t column_end;
  const float* weight;  // of the first channel's block
  const float* bias;    // nullptr: none
  float lo;
  float hi;
  bool hard_swish;          // applied before the clamp; the activation of MobileNetV3
  const float* last_scale;  // after hard_swish; nullptr: neither scale nor bias
  const float* last_bias;
  float* out;  // row 0, column 0
  bool asks;   // the memory of the tile that follows, whose row 0 and column 0 come next
  const float* next_in;
  float* next_out;
  int64_t out_row;
  int64_t out_pixel;
  int64_t store_begin;  // output columns to store
  int64_t store_end;
  int64_t rows;      // of the tile
  int64_t channels;  // from the first of a block
  // What the general tile needs.
  int64_t kernel_height;
  int64_t kernel_width;
  int64_t stride_height;
  int64_t stride_width;
  int64_t dilation_height;
  int64_t dilation_width;
  int64_t group;  // channels of one

  int64_t weights() const { return kernel_height * kernel_width * group; }  // of a channel
};

// The weights of channel c: they are kPanelStep floats apart.
HWY_INLINE const float* DepthwiseWeight(const DepthwiseJob& job, int64_t c) {
  return job.weight + c / kPanelStep * job.weights() * kPanelStep + c % kPanelStep;
}

// How much of a tile is there. Rows are tested in any case, one branch each.
enum class TilePart {
  kWhole,  // its columns lie inside the image and all are stored, and every lane is a channel
  kEdge,   // columns are tested, every lane is a channel
  kTail,   // columns are tested, and the vector has fewer channels than lanes
};

template <TilePart kPart>
HWY_INLINE FloatVec LoadChannels(const float* p, int64_t count) {
  if constexpr (kPart == TilePart::kTail) return LoadN(p, count);
  return Load(p);
}

template <TilePart kPart>
HWY_INLINE void StoreChannels(FloatVec v, float* p, int64_t count) {
  if constexpr (kPart == TilePart::kTail) {
    StoreN(v, p, count);
  } else {
    Store(v, p);
  }
}

// What the lanes of a vector of outputs multiply where groups have kChannels channels, in and out.
template <int kChannels>
class ChannelGroups {
 public:
  static constexpr int kGroup = kChannels;  // products of an output and tap

  ChannelGroups(const DepthwiseJob& job, int64_t c)
      : first_(kGroup >= kLanes ? c / kGroup * kGroup : c), count_(std::min(kLanes, job.channels - c)) {}

  // The first channel that the vector reads.
  int64_t first() const { return first_; }

  // Each lane's group's k-th channel. pixel: at the channel first().
  template <TilePart kPart>
  HWY_INLINE FloatVec Read(const float* pixel, int k) const {
    if constexpr (kGroup > 1 && kGroup >= kLanes) {
      return Set(pixel[k]);
    } else {
      const FloatVec x = LoadChannels<kPart>(pixel, count_);
      if constexpr (kGroup == 1) return x;
      if constexpr (kGroup == 2) return k == 0 ? hn::DupEven(x) : hn::DupOdd(x);
      if constexpr (kGroup == 4) return SpreadQuarter(x, k);
      const IntVec groups = hn::AndNot(hn::Set(IntTag(), kGroup - 1), hn::Iota(IntTag(), 0));
      return hn::TableLookupLanes(x, hn::IndicesFromVec(FloatTag(), hn::Add(groups, hn::Set(IntTag(), k))));
    }
  }

 private:
  // Neighbours of a group lie within 128 bits, where spreading one of them takes a single instruction.
  static HWY_INLINE FloatVec SpreadQuarter(FloatVec x, int k) {
    switch (k) {
      case 0: return hn::Broadcast<0>(x);
      case 1: return hn::Broadcast<1>(x);
      case 2: return hn::Broadcast<2>(x);
      default: return hn::Broadcast<3>(x);
    }
  }

  int64_t first_;
  int64_t count_;
};

// The same where every channel has several outputs, side by side: a vector of channels is read, of which there are
// enough, and each put into as many lanes as are its outputs.
class RepeatedChannels {
 public:
  static constexpr int kGroup = 1;

  RepeatedChannels(const DepthwiseJob& job, int64_t c)
      // Not past the pixel's end.
      : first_(std::min<int64_t>(job.sources[c], job.in_channels - kLanes)),
        lanes_(hn::IndicesFromVec(FloatTag(), hn::Sub(hn::LoadU(IntTag(), job.sources + c),
                                                      hn::Set(IntTag(), static_cast<int32_t>(first_))))) {}

  int64_t first() const { return first_; }

  template <TilePart kPart>
  HWY_INLINE FloatVec Read(const float* pixel, int) const {
    return hn::TableLookupLanes(Load(pixel), lanes_);
  }

 private:
  int64_t first_;
  decltype(hn::IndicesFromVec(FloatTag(), hn::Zero(IntTag()))) lanes_;
};

// Begins the sums of one vector of channels of a tile.
template <TilePart kPart, int kRows, int kColumns>
HWY_INLINE void StartDepthwise(const DepthwiseJob& job, int64_t c, FloatVec (&acc)[kRows][kColumns]) {
  const FloatVec bias =
      job.bias == nullptr ? Zero() : LoadChannels<kPart>(job.bias + c, std::min(kLanes, job.channels - c));
  WHERRY_UNROLL
  for (int r = 0; r < kRows; ++r) {
    WHERRY_UNROLL
    for (int x = 0; x < kColumns; ++x) acc[r][x] = bias;
  }
}

// Applies the epilogue to them and stores them.
template <TilePart kPart, int kRows, int kColumns>
HWY_INLINE void FinishDepthwise(const DepthwiseJob& job, int64_t c, FloatVec (&acc)[kRows][kColumns]) {
  // Copies: a vector store may alias the job, which would be read again after each.
  float* const out = job.out + c;
  const int64_t out_row = job.out_row;
  const int64_t out_pixel = job.out_pixel;
  const int64_t count = std::min(kLanes, job.channels - c);
  if (HWY_UNLIKELY(job.hard_swish)) {
    WHERRY_UNROLL
    for (int r = 0; r < kRows; ++r) {
      WHERRY_UNROLL
      for (int x = 0; x < kColumns; ++x) acc[r][x] = HardSwish(acc[r][x]);
    }
    if (job.last_scale != nullptr) {
      const FloatVec scale = LoadChannels<kPart>(job.last_scale + c, count);
      const FloatVec last = LoadChannels<kPart>(job.last_bias + c, count);
      WHERRY_UNROLL
      for (int r = 0; r < kRows; ++r) {
        WHERRY_UNROLL
        for (int x = 0; x < kColumns; ++x) acc[r][x] = MulAdd(acc[r][x], scale, last);
      }
    }
  }
  const FloatVec lo = Set(job.lo);
  const FloatVec hi = Set(job.hi);
  WHERRY_UNROLL
  for (int r = 0; r < kRows; ++r) {
    WHERRY_UNROLL
    for (int x = 0; x < kColumns; ++x) {
      if (kPart == TilePart::kWhole || (x >= job.store_begin && x < job.store_end)) {
        StoreChannels<kPart>(Clip(acc[r][x], lo, hi), out + r * out_row + x * out_pixel, count);
      }
    }
  }
}

}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
