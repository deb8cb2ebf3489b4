// Patches of images, as unfold and fold have them: where the windows of a convolution without weights lie.
#pragma once

#include <cstdint>
#include <vector>

#include "core/dim.h"

namespace wherry {

struct PatchAxis {
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_begin = 0;
  int64_t pad_end = 0;
};
struct Patches {
  std::vector<PatchAxis> axes;
  int64_t elements = 1;  // of a patch, in one channel
};
// One number per axis; empty strides and dilations are 1, empty paddings 0. Paddings are one per axis, or the
// beginnings of all axes and then the ends. All below 2^31, at most 2^31 elements: else Error(kInvalidArgument).
Patches ParsePatches(const std::vector<int64_t>& kernel_sizes, const std::vector<int64_t>& strides,
                     const std::vector<int64_t>& paddings, const std::vector<int64_t>& dilations);

// The positions of a patch along an axis of this extent. Error(kInvalidArgument) if it does not fit once.
Dim PatchCount(const PatchAxis& axis, const Dim& extent);

}  // namespace wherry
