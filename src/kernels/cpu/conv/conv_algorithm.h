// Which algorithm computes a convolution fastest.
#pragma once

#include <cstdint>

#include "kernels/cpu/conv/conv_shape.h"

namespace wherry::cpu {

enum class ConvAlgorithm : uint8_t {
  kDirect,     // implicit_gemm.h: everything
  kGemm,       // gemm/gemm.h: 1x1 kernels that see every pixel once, one group
  kWinograd2,  // winograd.h: 3x3, stride 1, dilation 1, one group
  kWinograd4,
  kDepthwise,  // depthwise.h
};
const char* ConvAlgorithmName(ConvAlgorithm algorithm);

// Whether the algorithm can compute the shape.
bool CanRun(ConvAlgorithm algorithm, const ConvShape& shape);

// A rule of few numbers, not a measurement: it never calls for a worse algorithm than direct by more than a few percent
// on the shapes of bench/conv_bench.cc, and misses the best by 5 % at most.
ConvAlgorithm ChooseConvAlgorithm(const ConvShape& shape, int threads);

}  // namespace wherry::cpu
