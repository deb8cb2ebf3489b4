#include <algorithm>

#include "kernels/cpu/conv/implicit_gemm.h"

namespace wherry::cpu {
namespace {

// Below this many pixels a chunk's product is bound by reading the weights: a float of them is used once per pixel, and
// a core does 64 multiply-adds in the time it reads 4 bytes from the last cache level.
constexpr int64_t kMinChunkPixels = 48;

// A chunk walks its pixels once per panel, so its part of the input should stay in a second-level cache, beside what it
// reads of the weights: half of 512 KB.
constexpr int64_t kMaxChunkInputFloats = 64 * 1024;

// Products in a chunk, at least: some 5 us, against 0.2 us to hand a chunk out and a few to bring its data to another
// core.
constexpr int64_t kMinChunkProducts = int64_t{1} << 19;

// Chunks per thread. The pool hands them out one at a time, so a thread that is slowed down takes fewer.
constexpr int64_t kChunksPerThread = 4;

}  // namespace

ImplicitGemmPlan::ImplicitGemmPlan(const ConvShape& conv, ImageForm image_form, int threads)
    : shape(conv),
      form(image_form),
      in_pixel(form == ImageForm::kPlanar ? 1 : conv.in_pixel_stride),
      in_row(conv.in_width * in_pixel),
      in_image(conv.in_height * in_row * (form == ImageForm::kPlanar ? conv.in_channels() : 1)),
      pixels(conv.out_pixels()),
      depth(conv.weight.taps() * conv.weight.in_channels_per_group),
      panels_per_group(PanelCount(conv.weight.out_channels_per_group())) {
  AddClasses();
  ChooseChunks(threads);
}

void ImplicitGemmPlan::AddClasses() {
  const ConvWeightShape& w = shape.weight;
  const int64_t channels = w.in_channels_per_group;
  const auto row_segments = MakeTapSegments(shape.in_height, shape.out_height(), w.kernel_height, shape.stride_height,
                                            shape.dilation_height, shape.pad_top);
  const auto column_segments = MakeTapSegments(shape.in_width, shape.out_width(), w.kernel_width, shape.stride_width,
                                               shape.dilation_width, shape.pad_left);
  int64_t first_pixel = 0;
  for (const TapSegment& rows : row_segments) {
    for (const TapSegment& columns : column_segments) {
      PixelClass c{rows, columns, first_pixel, shape.batch * rows.size() * columns.size(), {}, 0, 0};
      first_pixel += c.pixels;
      c.input_offset = (rows.tap_begin * shape.dilation_height - shape.pad_top) * in_row +
                       (columns.tap_begin * shape.dilation_width - shape.pad_left) * in_pixel;
      const int64_t first_tap = rows.tap_begin * w.kernel_width + columns.tap_begin;
      if (form == ImageForm::kPlanar) {
        c.first_depth = first_tap;
        c.runs = {.outer_count = channels,
                  .inner_count = rows.taps(),
                  .length = columns.taps(),
                  .outer_offset = shape.in_height * shape.in_width,
                  .inner_offset = shape.dilation_height * in_row,
                  .outer_depth = w.taps(),
                  .inner_depth = w.kernel_width};
      } else {
        c.first_depth = first_tap * channels;
        c.runs = {.outer_count = rows.taps(),
                  .inner_count = columns.taps(),
                  .length = channels,
                  .outer_offset = shape.dilation_height * in_row,
                  .inner_offset = shape.dilation_width * in_pixel,
                  .outer_depth = w.kernel_width * channels,
                  .inner_depth = channels};
        // The taps of a kernel row are one run where they are contiguous in the image too. This is what makes first
        // layers of few channels fast: a 7x7 kernel over 3 channels has 7 runs of 21, not 49 of 3.
        if (shape.dilation_width == 1 && in_pixel == channels) {
          c.runs.length *= c.runs.inner_count;
          c.runs.inner_count = c.runs.length > 0 ? 1 : 0;
        }
      }
      classes.push_back(c);
    }
  }
}

void ImplicitGemmPlan::ChooseChunks(int threads) {
  const int64_t panels = shape.weight.groups * panels_per_group;
  const int64_t most = std::max<int64_t>(1, pixels / kMinChunkPixels);
  const int64_t products = pixels * depth * shape.weight.out_channels;
  // Between chunks a run can be cancelled: none takes more than 20 to 40 ms.
  constexpr int64_t kMostChunkProducts = int64_t{1} << 31;
  const int64_t shares =
      threads > 1 ? std::clamp<int64_t>(products / kMinChunkProducts, 1, threads * kChunksPerThread) : 1;
  const int64_t chunks = std::max(shares, products / kMostChunkProducts);
  pixel_chunks = std::min(most, chunks);
  if (panels > 1) {
    const int64_t input_floats = shape.batch * shape.in_height * shape.in_width * in_pixel;
    pixel_chunks = std::max(pixel_chunks, std::min(most, input_floats / kMaxChunkInputFloats));
  }
  // Few pixels: the panels are shared out as well. Otherwise a chunk does all of them, and its input stays in cache.
  panel_chunks = std::min(panels, (chunks + pixel_chunks - 1) / pixel_chunks);
}

}  // namespace wherry::cpu
