#include "kernels/cpu/conv/implicit_gemm.h"

#include <algorithm>

#include "base/cancellation.h"
#include "base/thread_pool.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/conv/implicit_gemm.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/conv/column_epilogue-inl.h"
#include "kernels/cpu/conv/tile_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

// Walks the output pixels of a class, image by image and row by row.
class PixelWalk {
 public:
  PixelWalk(const ImplicitGemmPlan& plan, const ImplicitGemmPlan::PixelClass& c, int64_t first)
      : rows_(c.rows.size()), columns_(c.columns.size()) {
    const ConvShape& s = plan.shape;
    const int64_t image = first / (rows_ * columns_);
    y_ = first / columns_ % rows_;
    x_ = first % columns_;
    const int64_t out_width = s.out_width();
    const int64_t out_pixels = s.out_height() * out_width;
    output_pixel = image * out_pixels + (c.rows.begin + y_) * out_width + c.columns.begin + x_;
    output_row_step_ = out_width - columns_;
    output_image_step_ = out_pixels - rows_ * out_width;
    input_step_ = s.stride_width * plan.in_pixel;
    const int64_t input_row = s.stride_height * plan.in_row;
    input_offset =
        image * plan.in_image + (c.rows.begin + y_) * input_row + (c.columns.begin + x_) * input_step_ + c.input_offset;
    input_row_step_ = input_row - columns_ * input_step_;
    input_image_step_ = plan.in_image - rows_ * input_row;
  }

  HWY_INLINE void Next() {
    ++output_pixel;
    input_offset += input_step_;
    if (HWY_LIKELY(++x_ < columns_)) return;
    x_ = 0;
    output_pixel += output_row_step_;
    input_offset += input_row_step_;
    if (++y_ < rows_) return;
    y_ = 0;
    output_pixel += output_image_step_;
    input_offset += input_image_step_;
  }

  int64_t output_pixel;
  int64_t input_offset;  // of what the first valid tap reads

 private:
  int64_t rows_;
  int64_t columns_;
  int64_t y_;
  int64_t x_;
  int64_t output_row_step_;
  int64_t output_image_step_;
  int64_t input_step_;
  int64_t input_row_step_;
  int64_t input_image_step_;
};

// The part of one panel that a chunk computes for the pixels [first, first + count) of a class.
struct PanelJob {
  const float* in;  // channel 0 of the group
  const float* panel;
  int64_t width;    // of the panel
  int64_t column;   // first output channel
  int64_t columns;  // output channels, <= width
  bool is_first;    // that the chunk computes for its pixels: they have not been read yet
};

void RunPanel(const ImplicitGemmPlan& plan, const ImplicitGemmPlan::PixelClass& c, int64_t first, int64_t count,
              const PanelJob& job, const TileEpilogue& epilogue, float* out) {
  HWY_ALIGN float tile[kMaxTileRows * kPanelWidth];
  const float* rows[kMaxTileRows];
  float* out_rows[kMaxTileRows];
  int64_t pixels[kMaxTileRows];
  const EpilogueForm form = epilogue.form();
  // A simple epilogue goes straight from the registers to the image.
  const bool clips = form == EpilogueForm::kBias || form == EpilogueForm::kBiasClip;
  const bool direct = clips || form == EpilogueForm::kNone;
  const int64_t out_stride = plan.shape.out_pixel_stride;
  const int64_t row = PanelRow(kWeightLayout, job.width);
  int64_t vectors = 0;
  for (int64_t column = 0; column < job.columns; column += vectors * kLanes) {
    vectors = ColumnBlockVectors(job.columns - column);
    const int64_t columns = std::min(vectors * kLanes, job.columns - column);
    const int64_t out_column = job.column + column;
    const float* const panel = job.panel + PanelColumn(kWeightLayout, plan.depth, column) + c.first_depth * row;
    TileSink sink{nullptr, -kNoClamp, kNoClamp, columns, out_rows};
    if (clips) sink = {epilogue.BiasFrom(out_column), epilogue.lo(), epilogue.hi(), columns, out_rows};
    const int64_t floats = plan.depth * std::max(vectors * kLanes, kPanelStep);  // of the column block
    const BalancedTiles tiles(count, MaxTileRows(vectors));
    const BlockAhead ahead(floats, plan.depth, tiles.count);
    // Of the pixels of the next tile, what the lowest row of the kernel reads: those above read the rest before.
    // A stride may be far longer than a row.
    const int64_t step = std::min(plan.shape.stride_width * plan.in_pixel, plan.in_row);
    const int64_t lowest = (c.runs.outer_count - 1) * c.runs.outer_offset;
    const BlockAhead rows_ahead(job.is_first && column == 0 ? MaxTileRows(vectors) * step : 0, plan.depth, 1);
    PixelWalk walk(plan, c, first);
    for (int64_t t = 0; t < tiles.count; ++t) {
      const int64_t height = tiles.Height(t);
      for (int64_t r = 0; r < height; ++r, walk.Next()) {
        rows[r] = job.in + walk.input_offset;
        pixels[r] = walk.output_pixel;
        out_rows[r] = direct ? out + walk.output_pixel * out_stride + out_column : tile + r * kPanelWidth;
      }
      for (int64_t r = 0; r < height; ++r) AskToWrite(out + pixels[r] * out_stride + out_column, columns);
      if (epilogue.add() != nullptr) {
        for (int64_t r = 0; r < height; ++r) PrefetchAdded(epilogue, pixels[r], out_column, columns);
      }
      const TileAhead part{ahead.Part(panel + floats, t), rows_ahead.Part(job.in + walk.input_offset + lowest, 0)};
      MultiplyTileOf(vectors, height)(rows, c.runs, panel, row, sink, part);
      if (!direct) StoreFinishedTile({epilogue, tile, pixels, height, out_column, columns, out, out_stride});
    }
  }
}

void RunChunk(const ImplicitGemmPlan& plan, int64_t chunk, const float* in, const float* packed,
              const TileEpilogue& epilogue, float* out) {
  const ConvWeightShape& w = plan.shape.weight;
  const int64_t columns = w.out_channels_per_group();
  const int64_t panels = w.groups * plan.panels_per_group;
  const int64_t panel_chunk = chunk / plan.pixel_chunks;
  const int64_t pixel_chunk = chunk % plan.pixel_chunks;
  const int64_t pixel_begin = plan.pixels * pixel_chunk / plan.pixel_chunks;
  const int64_t pixel_end = plan.pixels * (pixel_chunk + 1) / plan.pixel_chunks;
  const int64_t plane = plan.form == ImageForm::kPlanar ? plan.shape.in_height * plan.shape.in_width : 1;
  const int64_t first_panel = panels * panel_chunk / plan.panel_chunks;
  for (int64_t p = first_panel; p < panels * (panel_chunk + 1) / plan.panel_chunks; ++p) {
    const int64_t group = p / plan.panels_per_group;
    const int64_t first_column = p % plan.panels_per_group * kPanelWidth;
    const PanelJob job{in + group * w.in_channels_per_group * plane,
                       packed + plan.depth * (group * PaddedColumns(columns) + first_column),
                       PanelWidth(columns, p % plan.panels_per_group),
                       group * columns + first_column,
                       std::min(kPanelWidth, columns - first_column),
                       p == first_panel};
    for (const ImplicitGemmPlan::PixelClass& c : plan.classes) {
      const int64_t begin = std::max(pixel_begin, c.first_pixel);
      const int64_t end = std::min(pixel_end, c.first_pixel + c.pixels);
      if (begin < end) RunPanel(plan, c, begin - c.first_pixel, end - begin, job, epilogue, out);
    }
  }
}

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {

void RunImplicitGemm(const ImplicitGemmPlan& plan, const float* in, const float* packed, const TileEpilogue& epilogue,
                     float* out, ThreadPool* pool) {
  const auto run_chunk = WHERRY_ISA_CALL(RunChunk);
  const int64_t chunks = plan.pixel_chunks * plan.panel_chunks;
  if (pool == nullptr || chunks == 1) {
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      ThrowIfCancelled();
      run_chunk(plan, chunk, in, packed, epilogue, out);
    }
    return;
  }
  pool->Run(chunks, [&](int64_t chunk) { run_chunk(plan, chunk, in, packed, epilogue, out); });
}

}  // namespace wherry::cpu
#endif  // HWY_ONCE
