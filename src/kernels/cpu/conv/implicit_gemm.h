// Dense convolution of any kernel, stride, dilation, padding and group count, as a matrix product whose rows are read
// in place: no im2col. Output pixels are grouped by which taps fall inside the image, so padding costs nothing.
//
// Also reads planar (NCHW) images, for first layers: the packed weight then has its depth in (channel, tap) order.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu/conv/conv_shape.h"
#include "kernels/cpu/conv/panel.h"
#include "kernels/cpu/conv/tap_segment.h"
#include "kernels/cpu/tile_epilogue.h"

namespace wherry {
class ThreadPool;
}

namespace wherry::cpu {

// How the input lies in memory. kPlanar is contiguous [batch][channels][height][width]; it needs groups == 1 and
// dilation_width == 1.
enum class ImageForm : uint8_t { kNhwc, kPlanar };

// Floats of the packed weight, the same for both forms.
int64_t ImplicitGemmPackedSize(const ConvWeightShape& shape);

// Packs a contiguous OIHW weight into `packed` (64-byte aligned, ImplicitGemmPackedSize floats), for input of `form`.
// Panels of 64 output channels: [group][panel][tap][channel][width] or [panel][channel][tap][width], see panel.h.
void PackImplicitGemm(const ConvWeightShape& shape, ImageForm form, const float* weight, float* packed,
                      ThreadPool* pool, PanelLayout layout = WeightLayout());

// What depends on the shape. Immutable, may be shared by threads.
class ImplicitGemmPlan {
 public:
  // With kPlanar, conv.in_pixel_stride means nothing. threads: how many the pool will have.
  ImplicitGemmPlan(const ConvShape& conv, ImageForm image_form, int threads);

  // Output pixels that see the same taps: one rectangle of every image of the batch.
  struct PixelClass {
    TapSegment rows;
    TapSegment columns;
    int64_t first_pixel;  // in the order in which chunks count pixels
    int64_t pixels;
    RunGrid runs;
    int64_t input_offset;  // of the first valid tap of the pixel (0, 0), may be
                           // negative
    int64_t first_depth;   // of that tap in a panel
  };

  ConvShape shape;
  ImageForm form;
  int64_t in_pixel;  // strides of the input in floats
  int64_t in_row;
  int64_t in_image;
  std::vector<PixelClass> classes;
  int64_t pixels;
  int64_t depth;  // floats of a panel per column
  int64_t panels_per_group;
  int64_t pixel_chunks;
  int64_t panel_chunks;

 private:
  void AddClasses();
  void ChooseChunks(int threads);
};

// in, out: the first pixel. packed: from PackImplicitGemm for plan.form. Needs no scratch.
void RunImplicitGemm(const ImplicitGemmPlan& plan, const float* in, const float* packed, const TileEpilogue& epilogue,
                     float* out, ThreadPool* pool);

}  // namespace wherry::cpu
