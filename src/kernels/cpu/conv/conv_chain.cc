#include "kernels/cpu/conv/conv_chain.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "base/thread_pool.h"
#include "kernels/cpu/conv/ceil_divide.h"
#include "kernels/cpu/simd/isa.h"

namespace wherry::cpu {
namespace {

// What the rows of a band may take: half of a second-level cache of 512 KB. From 2 to 14 rows of a MobileNet's first
// block (112x112x96) made no difference there.
constexpr int64_t kBandBytes = 256 * 1024;
constexpr int64_t kChunksPerThread = 2;
// A 3x3 kernel of stride 1 has two rows of its image computed twice where chunks meet.
constexpr int64_t kLeastChunkRows = 8;
// As products: a run that is to end early looks between chunks.
constexpr int64_t kMostChunkProducts = int64_t{1} << 31;

struct Rows {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t count() const { return end - begin; }
};

int64_t WindowRows(const ConvShape& shape) { return (shape.weight.kernel_height - 1) * shape.dilation_height + 1; }

// The rows of its image that these rows of a convolution's result meet, some of them in the padding.
Rows PaddedRowsFor(const ConvShape& shape, const Rows& rows) {
  return {rows.begin * shape.stride_height - shape.pad_top,
          (rows.end - 1) * shape.stride_height - shape.pad_top + WindowRows(shape)};
}

Rows RowsFor(const ConvShape& shape, const Rows& rows) {
  const Rows padded = PaddedRowsFor(shape, rows);
  return {std::max<int64_t>(padded.begin, 0), std::min(padded.end, shape.in_height)};
}

// The convolution that gives these rows of the result from those that RowsFor says.
ConvShape ShapeOfRows(const ConvShape& shape, const Rows& rows) {
  const Rows padded = PaddedRowsFor(shape, rows);
  const Rows inside = RowsFor(shape, rows);
  ConvShape part = shape;
  part.batch = 1;
  part.in_height = inside.count();
  part.pad_top = inside.begin - padded.begin;
  part.pad_bottom = padded.end - inside.end;
  return part;
}

int64_t Products(const ConvShape& shape) {
  return shape.out_pixels() / std::max<int64_t>(shape.batch, 1) * shape.weight.elements();
}

}  // namespace

ConvAlgorithm ChainAlgorithm(const ConvShape& shape) {
  for (const ConvAlgorithm algorithm : {ConvAlgorithm::kDepthwise, ConvAlgorithm::kGemm}) {
    if (CanRun(algorithm, shape)) return algorithm;
  }
  return ConvAlgorithm::kDirect;
}

// Follows which rows the buffers hold while a chunk is computed.
class ConvChainPlan::StepMaker {
 public:
  explicit StepMaker(ConvChainPlan* plan) : plan_(*plan), buffer_rows_(plan->size() - 1) {}

  std::vector<Step> Chunk(const Rows& rows) {
    std::vector<Step> steps;
    held_.assign(plan_.size() - 1, {});
    const int64_t bands = CeilDivide(rows.count(), plan_.band_rows_);
    for (int64_t band = 0; band < bands; ++band) {
      Band({rows.begin + rows.count() * band / bands, rows.begin + rows.count() * (band + 1) / bands}, &steps);
    }
    return steps;
  }

  // The most rows that each buffer holds.
  const std::vector<int64_t>& buffer_rows() const { return buffer_rows_; }

 private:
  void Band(const Rows& rows, std::vector<Step>* steps) {
    const std::vector<ConvShape>& shapes = plan_.shapes_;
    const size_t last = shapes.size() - 1;
    std::vector<Rows> needed(shapes.size());
    needed[last] = rows;
    for (size_t i = last; i > 0; --i) needed[i - 1] = RowsFor(shapes[i], needed[i]);
    for (size_t i = 0; i <= last; ++i) {
      Step step{i, 0, needed[i].begin, 0, 0, 0, 0, 0};
      if (i < last) {
        Rows& held = held_[i];
        if (held.end >= needed[i].end) continue;  // the image's last rows, for two bands
        if (held.end > needed[i].begin) {
          step.moved_from = needed[i].begin - held.begin;
          step.moved = step.moved_from == 0 ? 0 : held.end - needed[i].begin;
          step.row = held.end;
          step.out_at = held.end - needed[i].begin;
        }
        held = needed[i];
        buffer_rows_[i] = std::max(buffer_rows_[i], held.count());
      }
      const Rows computed{step.row, needed[i].end};
      step.in_row = RowsFor(shapes[i], computed).begin;
      step.in_at = i == 0 ? 0 : step.in_row - held_[i - 1].begin;
      step.plan = PlanFor(i, ShapeOfRows(shapes[i], computed));
      steps->push_back(step);
    }
  }

  // Most bands are alike.
  size_t PlanFor(size_t link, const ConvShape& shape) {
    const auto [found, is_new] =
        plans_.try_emplace({link, shape.in_height, shape.pad_top, shape.pad_bottom}, plan_.plans_.size());
    if (is_new) plan_.plans_.emplace_back(ChainAlgorithm(plan_.shapes_[link]), shape, 1);
    return found->second;
  }

  ConvChainPlan& plan_;
  std::vector<Rows> held_;
  std::vector<int64_t> buffer_rows_;
  std::map<std::tuple<size_t, int64_t, int64_t, int64_t>, size_t> plans_;
};

ConvChainPlan::ConvChainPlan(std::vector<ConvShape> shapes, int threads) : shapes_(std::move(shapes)) {
  const ConvShape& last = shapes_.back();
  const int64_t height = last.out_height();
  const int64_t batch = last.batch;
  if (last.out_pixels() == 0) return;
  while (band_rows_ < height && BandBytes(band_rows_ + 1) <= kBandBytes) ++band_rows_;
  int64_t products = 0;
  for (const ConvShape& shape : shapes_) products += Products(shape);
  int64_t chunks = products / kMostChunkProducts + 1;
  if (threads > 1) {
    chunks = std::max(chunks, std::min(CeilDivide(threads * kChunksPerThread, batch), height / kLeastChunkRows));
  }
  chunks = std::min(chunks, height);
  StepMaker maker(this);
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    chunks_.push_back(maker.Chunk({height * chunk / chunks, height * (chunk + 1) / chunks}));
  }
  for (size_t i = 0; i + 1 < shapes_.size(); ++i) {
    buffers_.push_back(buffer_floats_);
    buffer_floats_ += CeilDivide(maker.buffer_rows()[i] * RowFloats(i), 16) * 16;
  }
  jobs_ = batch * chunks;
  if (threads > 1) {
    jobs_ = std::min(jobs_, std::max<int64_t>(threads * kChunksPerThread, chunks));
    buffer_sets_ = jobs_;
  }
}

int64_t ConvChainPlan::RowFloats(size_t link) const {
  return shapes_[link].out_width() * shapes_[link].out_pixel_stride;
}

int64_t ConvChainPlan::BandBytes(int64_t rows) const {
  int64_t floats = 0;
  for (size_t i = shapes_.size() - 1; i > 0; --i) {
    rows = (rows - 1) * shapes_[i].stride_height + WindowRows(shapes_[i]);
    floats += rows * RowFloats(i - 1);
  }
  return floats * static_cast<int64_t>(sizeof(float));
}

std::string ConvChainPlan::DebugString() const {
  return StrCat(chunks_.size(), " chunks, bands of ", band_rows_, " rows, ",
                buffer_floats_ * static_cast<int64_t>(sizeof(float)) / 1024, " KB");
}

void ConvChainPlan::RunChunk(int64_t image, int64_t chunk, const float* in, std::span<const float* const> packed,
                             std::span<const TileEpilogue> epilogues, float* out, float* buffers) const {
  for (const Step& step : chunks_[static_cast<size_t>(chunk)]) {
    const size_t i = step.link;
    const ConvShape& shape = shapes_[i];
    const int64_t row_floats = RowFloats(i);
    const float* const from =
        i == 0 ? in + (image * shape.in_height + step.in_row) * shape.in_width * shape.in_pixel_stride
               : buffers + buffers_[i - 1] + step.in_at * RowFloats(i - 1);
    float* to = nullptr;
    if (i + 1 == shapes_.size()) {
      to = out + (image * shape.out_height() + step.row) * row_floats;
    } else {
      float* const front = buffers + buffers_[i];
      const auto bytes = static_cast<size_t>(step.moved * row_floats) * sizeof(float);
      if (bytes > 0) std::memmove(front, front + step.moved_from * row_floats, bytes);
      to = front + step.out_at * row_floats;
    }
    const int64_t first_pixel = (image * shape.out_height() + step.row) * shape.out_width();
    plans_[step.plan].Run(from, packed[i], epilogues[i].FromRow(first_pixel), to, nullptr, nullptr);
  }
}

void ConvChainPlan::Run(const float* in, std::span<const float* const> packed, std::span<const TileEpilogue> epilogues,
                        float* out, float* scratch, ThreadPool* pool) const {
  const auto chunks = static_cast<int64_t>(chunks_.size());
  const int64_t all = chunks * shapes_.back().batch;
  const Isa isa = ActiveIsa();
  const auto run_job = [&](int64_t job) {
    const ScopedIsa scoped(isa);  // of the thread that began: the weights are packed for it
    for (int64_t i = all * job / jobs_; i < all * (job + 1) / jobs_; ++i) {
      RunChunk(i / chunks, i % chunks, in, packed, epilogues, out, scratch + job % buffer_sets_ * buffer_floats_);
    }
  };
  if (pool == nullptr) {
    for (int64_t job = 0; job < jobs_; ++job) run_job(job);
  } else {
    pool->Run(jobs_, run_job);
  }
}

}  // namespace wherry::cpu
