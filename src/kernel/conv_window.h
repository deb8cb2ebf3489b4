// The window of a two-dimensional convolution (transposed and deformable ones too), for the kernels of every provider.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernel/problem.h"
#include "op/infer/window.h"

namespace wherry {

inline WindowAttributes ConvWindow(const KernelProblem& problem) {
  return ParseWindow(2, problem.Attr<std::vector<int64_t>>("strides"), problem.Attr<std::vector<int64_t>>("paddings"),
                     problem.Attr<std::string>("padding_algorithm"), problem.Attr<std::vector<int64_t>>("dilations"));
}

}  // namespace wherry
