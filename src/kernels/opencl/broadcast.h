// Broadcasting as the OpenCL kernels are told of it.
#pragma once

#include "kernels/opencl/api.h"
#include "wherry/types.h"

namespace wherry::opencl {

// The result's dimensions from the innermost to the outermost, and what a step along each moves in x and y. Dimensions
// that both operands walk through alike are merged; there is at least one. The same struct is declared in the .cl
// files.
struct Broadcast {
  cl_long dims[Shape::kMaxRank];
  cl_long x_steps[Shape::kMaxRank];
  cl_long y_steps[Shape::kMaxRank];
  cl_int rank;
};

// x and y broadcast to out (NumPy's rules; the caller has checked that they do), all plain. `x_unit` and `y_unit` are
// the elements of one step along the last dimension: 1, or the size of a matrix when the shapes are those of a batch of
// matrices.
Broadcast MakeBroadcast(const Shape& x, const Shape& y, const Shape& out, int64_t x_unit = 1, int64_t y_unit = 1);

}  // namespace wherry::opencl
