#include <algorithm>

#include "base/thread_pool.h"
#include "kernels/cpu/conv/implicit_gemm.h"

namespace wherry::cpu {

int64_t ImplicitGemmPackedSize(const ConvWeightShape& shape) {
  return shape.groups * shape.taps() * shape.in_channels_per_group * PaddedColumns(shape.out_channels_per_group());
}

void PackImplicitGemm(const ConvWeightShape& shape, ImageForm form, const float* weight, float* packed,
                      ThreadPool* pool, PanelLayout layout) {
  const int64_t columns = shape.out_channels_per_group();
  const int64_t channels = shape.in_channels_per_group;
  const int64_t taps = shape.taps();
  const int64_t depth = taps * channels;
  const int64_t panels = PanelCount(columns);
  ParallelFor(pool, shape.groups * panels, 1, [&](int64_t begin, int64_t end) {
    for (int64_t index = begin; index < end; ++index) {
      const int64_t group = index / panels;
      const int64_t panel = index % panels;
      const int64_t width = PanelWidth(columns, panel);
      const int64_t row_stride = PanelRow(layout, width);
      const int64_t used = std::min(kPanelWidth, columns - panel * kPanelWidth);
      const float* from = weight + (group * columns + panel * kPanelWidth) * depth;
      float* to = packed + group * depth * PaddedColumns(columns) + panel * kPanelWidth * depth;
      for (int64_t c = 0; c < channels; ++c) {
        for (int64_t tap = 0; tap < taps; ++tap) {
          const int64_t row = form == ImageForm::kPlanar ? c * taps + tap : tap * channels + c;
          for (int64_t k = 0; k < width; ++k) {
            to[PanelColumn(layout, depth, k) + row * row_stride] = k < used ? from[k * depth + c * taps + tap] : 0.0F;
          }
        }
      }
    }
  });
}

}  // namespace wherry::cpu
