// What a convolution operator's arguments (x, filter, strides, ...) say of its shape.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/dense_tensor.h"
#include "kernel/problem.h"
#include "kernels/cpu/conv/conv_shape.h"

namespace wherry::cpu {

ConvWeightShape ConvWeightShapeOf(const Shape& filter, int64_t groups);
// All but what depends on the image.
ConvShape PartialConvShapeOf(const KernelProblem& problem);
// Everything must be known.
ConvShape ConvShapeOf(const KernelProblem& problem);

// A kernel's functions for packing a filter, by a format of ConvPackFormat.
size_t PackedConvFilterBytes(const TensorMeta& filter, std::string_view format);
void PackConvFilter(const DenseTensor& filter, std::string_view format, void* packed);

}  // namespace wherry::cpu
