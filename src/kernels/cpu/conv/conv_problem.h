// What a convolution operator's arguments (x, filter, strides, ...) say of its shape.
#pragma once

#include "kernel/problem.h"
#include "kernels/cpu/conv/conv_shape.h"

namespace wherry::cpu {

ConvWeightShape ConvWeightShapeOf(const Shape& filter, int64_t groups);
// All but what depends on the image.
ConvShape PartialConvShapeOf(const KernelProblem& problem);
// Everything must be known.
ConvShape ConvShapeOf(const KernelProblem& problem);

}  // namespace wherry::cpu
