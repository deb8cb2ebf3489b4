// Resampling of two neighbouring axes of f32 tensors: rows and columns of pixels of `inner` floats that lie together
// (the channels of an NHWC image; 1 in NCHW). Each element of the result is a weighted sum of `taps` elements along
// each axis, row by row: along the columns first where rows become more (each input row once), otherwise along the rows
// first.
#pragma once

#include <cstdint>
#include <vector>

#include "op/infer/resample.h"

namespace wherry {
class ThreadPool;
}

namespace wherry::cpu {

// One axis with its table, tap by tap: element i takes index[t * out + i] times weight[t * out + i].
struct ResampleTaps {
  int64_t in = 1;
  int64_t out = 1;
  int64_t taps = 1;
  bool identity = true;             // the axis stays as it is; no table
  std::vector<int32_t> index = {};  // empty if identity
  std::vector<float> weight = {};

  static ResampleTaps Unchanged(int64_t extent) { return {.in = extent, .out = extent}; }
  // in < 2^31.
  static ResampleTaps Of(const ResampleRule& rule, const ResampleAxis& axis);
};

// Strides in floats; what lies between two pixels is neither read nor written.
struct ResampleShape {
  bool nearest = false;
  int64_t outer = 1;
  ResampleTaps rows;
  ResampleTaps columns;
  int64_t inner = 1;
  int64_t in_pixel_stride = 1;
  int64_t out_pixel_stride = 1;
};

// Pieces that the rows of the result are cut into, for this many threads, and the scratch floats that all need.
int64_t ResampleTasks(const ResampleShape& shape, int threads);
int64_t ResampleScratch(const ResampleShape& shape, int64_t tasks);

// in, out: the first pixel.
void Resample(const ResampleShape& shape, int64_t tasks, const float* in, float* out, float* scratch, ThreadPool* pool);

}  // namespace wherry::cpu
