#include "kernels/cpu/conv/depthwise.h"

#include <algorithm>
#include <limits>

#include "base/thread_pool.h"
#include "kernels/cpu/conv/ceil_divide.h"
#include "kernels/cpu/conv/panel.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/conv/depthwise.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/conv/column_epilogue-inl.h"
#include "kernels/cpu/conv/depthwise_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

// The channels [first, first + count) of a convolution.
struct ChannelRange {
  int64_t first;
  int64_t count;
};

// A band of output rows of one image, tile by tile.
class DepthwiseBand {
 public:
  DepthwiseBand(const DepthwisePlan& plan, const float* in, const float* packed, const TileEpilogue& epilogue,
                float* out, const ChannelRange& channels)
      : shape_(plan.shape),
        sources_(plan.sources.empty() ? nullptr : plan.sources.data()),
        tiles_(ChooseDepthwiseTiles(plan.shape)),
        epilogue_(epilogue),
        in_(in),
        out_(out),
        channels_(channels) {
    const EpilogueForm form = epilogue.form();
    const bool clamp = form == EpilogueForm::kBias || form == EpilogueForm::kBiasClip;
    scales_ = form == EpilogueForm::kBiasHardSwishScaleBias;
    job_.hard_swish = form == EpilogueForm::kBiasHardSwish || scales_;
    adds_bias_ = clamp || job_.hard_swish;
    direct_ = adds_bias_ || form == EpilogueForm::kNone;
    job_.lo = clamp ? epilogue.lo() : -kInfinity;
    job_.hi = clamp ? epilogue.hi() : kInfinity;
    const ConvWeightShape& w = shape_.weight;
    // 7x7 planes of many channels are read in order as far as it goes: asking cost them 7 to 15 %.
    job_.asks = shape_.out_width() > tiles_.columns;
    // A dilated convolution is one without for every dilation_height-th row and every dilation_width-th column: to a
    // tile, pixels that far apart are neighbours.
    if (tiles_.interleaves) {
      row_step_ = shape_.dilation_height;
      column_step_ = shape_.dilation_width;
    }
    job_.in_pixel = shape_.in_pixel_stride * column_step_;
    job_.in_row = shape_.in_width * shape_.in_pixel_stride * row_step_;
    job_.in_channels = shape_.in_channels();
    job_.kernel_height = w.kernel_height;
    job_.kernel_width = w.kernel_width;
    job_.stride_height = shape_.stride_height;
    job_.stride_width = shape_.stride_width;
    job_.dilation_height = shape_.dilation_height;
    job_.dilation_width = shape_.dilation_width;
    job_.group = w.in_channels_per_group;
    packed_ = packed;
    span_columns_ =
        (tiles_.columns - 1) * shape_.stride_width * column_step_ + (w.kernel_width - 1) * shape_.dilation_width + 1;
  }

  void Run(int64_t image, int64_t row_begin, int64_t row_end) {
    const BalancedTiles rows(row_end - row_begin, tiles_.max_rows);
    for (int64_t t = 0; t < rows.count; ++t) {
      for (int64_t column = 0; column < column_step_; ++column) {
        RunTileRow(image, row_begin + rows.First(t), rows.Height(t), column);
      }
    }
  }

 private:
  static constexpr float kInfinity = std::numeric_limits<float>::infinity();
  static constexpr int kMaxPixels = kMostDepthwiseColumns * 3;

  // `height` rows, of which it takes the columns `column`, column + column_step_, ...
  void RunTileRow(int64_t image, int64_t y, int64_t height, int64_t column) {
    const int64_t width = CeilDivide(shape_.out_width() - column, column_step_);
    const int64_t in_y = y * shape_.stride_height - shape_.pad_top;
    job_.rows = height;
    // Rows of a taller image than the tile reads do no harm.
    job_.row_begin = CeilDivide(-in_y, row_step_);
    job_.row_end = CeilDivide(shape_.in_height - in_y, row_step_);
    const DepthwiseTileFn whole = tiles_.whole(height);
    const DepthwiseTileFn edge = tiles_.edge(height);
    for (int64_t done = 0; done < width; done += tiles_.columns) {
      const int64_t tile = TileColumn(done, width);
      const int64_t x = column + tile * column_step_;
      const int64_t in_x = x * shape_.stride_width - shape_.pad_left;
      job_.store_begin = done - tile;
      job_.store_end = std::min(tiles_.columns, width - tile);
      job_.column_begin = CeilDivide(-in_x, column_step_);
      job_.column_end = CeilDivide(shape_.in_width - in_x, column_step_);
      const bool inside = in_x >= 0 && in_x + span_columns_ <= shape_.in_width;
      const bool all = job_.store_begin == 0 && job_.store_end == tiles_.columns;
      const bool is_last = done + tiles_.columns >= width;
      const int64_t next_tile = TileColumn(done + tiles_.columns, width);
      const TilePlace next = is_last ? Place(image, y + height, 0) : Place(image, y, column + next_tile * column_step_);
      RunTile(inside && all ? whole : edge, Place(image, y, x), next);
    }
  }

  // The last tile of a row is shifted left to stay inside the image, and stores only what is new.
  int64_t TileColumn(int64_t done, int64_t width) const {
    return std::max<int64_t>(0, std::min(done, width - tiles_.columns));
  }

  // Where a tile's first tap reads, and its first output pixel.
  struct TilePlace {
    const float* in;
    int64_t pixel;
  };
  TilePlace Place(int64_t image, int64_t y, int64_t x) const {
    const int64_t in_y = image * shape_.in_height + y * shape_.stride_height - shape_.pad_top;
    const int64_t in_x = x * shape_.stride_width - shape_.pad_left;
    return {in_ + (in_y * shape_.in_width + in_x) * shape_.in_pixel_stride,
            (image * shape_.out_height() + y) * shape_.out_width() + x};
  }

  void RunTile(DepthwiseTileFn tile, const TilePlace& place, const TilePlace& next) {
    // With an epilogue that the tile cannot do itself, a panel's width of channels at a time goes through a buffer.
    const int64_t step = direct_ ? channels_.count : kPanelWidth;
    for (int64_t c = 0; c < channels_.count; c += step) {
      const int64_t channel = channels_.first + c;
      if (sources_ != nullptr) job_.sources = sources_ + channel;
      const int64_t in_channel = sources_ == nullptr ? channel : 0;
      job_.in = place.in + in_channel;
      job_.next_in = next.in + in_channel;
      job_.next_out = out_ + next.pixel * shape_.out_pixel_stride + channel;
      job_.weight = packed_ + channel * job_.weights();
      job_.bias = adds_bias_ ? epilogue_.BiasFrom(channel) : nullptr;
      job_.last_scale = scales_ ? epilogue_.last_scale() + channel : nullptr;
      job_.last_bias = scales_ ? epilogue_.last_bias() + channel : nullptr;
      job_.channels = std::min(step, channels_.count - c);
      if (direct_) {
        job_.out = out_ + place.pixel * shape_.out_pixel_stride + channel;
        job_.out_pixel = shape_.out_pixel_stride * column_step_;
        job_.out_row = shape_.out_width() * shape_.out_pixel_stride;
        tile(job_);
      } else {
        RunBuffered(tile, place.pixel, channel);
      }
    }
  }

  void RunBuffered(DepthwiseTileFn tile, int64_t first_pixel, int64_t channel) {
    HWY_ALIGN float buffer[kMaxPixels * kPanelWidth];
    int64_t pixels[kMaxPixels];
    const int64_t columns = job_.store_end - job_.store_begin;
    job_.out = buffer - job_.store_begin * kPanelWidth;
    job_.out_pixel = kPanelWidth;
    job_.out_row = columns * kPanelWidth;
    tile(job_);
    int64_t count = 0;
    for (int64_t r = 0; r < job_.rows; ++r) {
      for (int64_t x = job_.store_begin; x < job_.store_end; ++x) {
        pixels[count++] = first_pixel + r * shape_.out_width() + x * column_step_;
      }
    }
    StoreFinishedTile({epilogue_, buffer, pixels, count, channel, job_.channels, out_, shape_.out_pixel_stride});
  }

  const ConvShape& shape_;
  const int32_t* const sources_;
  const DepthwiseTiles tiles_;
  const TileEpilogue& epilogue_;
  const float* in_;
  const float* packed_;
  float* out_;
  const ChannelRange channels_;
  bool adds_bias_;
  bool scales_;
  bool direct_;
  int64_t row_step_ = 1;  // between the rows and columns of the image that are neighbours to a tile
  int64_t column_step_ = 1;
  int64_t span_columns_;  // input columns that a tile reads
  DepthwiseJob job_{};
};

void RunDepthwiseChunk(const DepthwisePlan& plan, int64_t chunk, const float* in, const float* packed,
                       const TileEpilogue& epilogue, float* out) {
  const int64_t channels = plan.shape.weight.out_channels;
  const int64_t blocks = PaddedColumns(channels) / kPanelStep;
  const int64_t channel_chunk = chunk / plan.row_chunks;
  const int64_t first = blocks * channel_chunk / plan.channel_chunks * kPanelStep;
  const int64_t last = std::min(channels, blocks * (channel_chunk + 1) / plan.channel_chunks * kPanelStep);
  DepthwiseBand band(plan, in, packed, epilogue, out, {first, last - first});

  const int64_t height = plan.shape.out_height();
  const int64_t rows = plan.shape.batch * height;
  const int64_t row_chunk = chunk % plan.row_chunks;
  const int64_t end = rows * (row_chunk + 1) / plan.row_chunks;
  for (int64_t row = rows * row_chunk / plan.row_chunks; row < end;) {
    const int64_t image = row / height;
    const int64_t image_end = std::min(end, (image + 1) * height);
    band.Run(image, row - image * height, image_end - image * height);
    row = image_end;
  }
}

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {
namespace {

// Products in a chunk: some 5 us, against 0.2 us to hand a chunk out and a few to bring its data to another core.
constexpr int64_t kChunkProducts = 512 * 1024;
constexpr int64_t kChunksPerThread = 4;
// Rows of a chunk: its tiles are 3 rows tall, and neighbouring chunks read some input rows twice.
constexpr int64_t kChunkRows = 6;

}  // namespace

int64_t DepthwisePackedSize(const ConvWeightShape& shape) {
  return PaddedColumns(shape.out_channels) * shape.taps() * shape.in_channels_per_group;
}

void PackDepthwise(const ConvWeightShape& shape, const float* weight, float* packed) {
  const int64_t taps = shape.taps();
  const int64_t group = shape.in_channels_per_group;
  std::fill_n(packed, DepthwisePackedSize(shape), 0.0f);
  for (int64_t c = 0; c < shape.out_channels; ++c) {
    float* const to = packed + c / kPanelStep * taps * group * kPanelStep + c % kPanelStep;
    for (int64_t k = 0; k < group; ++k) {
      for (int64_t tap = 0; tap < taps; ++tap)
        to[(tap * group + k) * kPanelStep] = weight[(c * group + k) * taps + tap];
    }
  }
}

DepthwisePlan::DepthwisePlan(const ConvShape& conv, int threads) : shape(conv), row_chunks(1), channel_chunks(1) {
  if (conv.weight.out_channels_per_group() > conv.weight.in_channels_per_group) {
    sources.resize(static_cast<size_t>(PaddedColumns(conv.weight.out_channels)));
    for (int64_t c = 0; c < conv.weight.out_channels; ++c) {
      sources[static_cast<size_t>(c)] = static_cast<int32_t>(c / conv.weight.out_channels_per_group());
    }
    std::fill(sources.begin() + conv.weight.out_channels, sources.end(), static_cast<int32_t>(conv.weight.groups - 1));
  }
  if (threads == 1) return;
  const int64_t products = shape.out_pixels() * shape.weight.elements();
  const int64_t chunks = std::clamp<int64_t>(products / kChunkProducts, 1, threads * kChunksPerThread);
  const int64_t rows = shape.batch * shape.out_height();
  row_chunks = std::clamp<int64_t>(rows / kChunkRows, 1, chunks);
  channel_chunks = std::min(PaddedColumns(shape.weight.out_channels) / kPanelStep, chunks / row_chunks);
}

void RunDepthwise(const DepthwisePlan& plan, const float* in, const float* packed, const TileEpilogue& epilogue,
                  float* out, ThreadPool* pool) {
  const auto run_chunk = WHERRY_ISA_CALL(RunDepthwiseChunk);
  const int64_t chunks = plan.row_chunks * plan.channel_chunks;
  if (pool == nullptr || chunks == 1) {
    for (int64_t chunk = 0; chunk < chunks; ++chunk) run_chunk(plan, chunk, in, packed, epilogue, out);
    return;
  }
  pool->Run(chunks, [&](int64_t chunk) { run_chunk(plan, chunk, in, packed, epilogue, out); });
}

}  // namespace wherry::cpu
#endif  // HWY_ONCE
