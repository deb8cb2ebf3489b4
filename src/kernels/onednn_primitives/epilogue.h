// An op's epilogue as oneDNN's bias and post-ops.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <string>
#include <vector>

#include "kernel/problem.h"

namespace wherry::onednn {

// One of the op's `operands`, and what oneDNN takes it as.
struct Operand {
  int argument;  // DNNL_ARG_...
  size_t index;  // in `operands`
  dnnl::memory::desc desc;
};

struct PostOps {
  dnnl::post_ops ops;
  std::vector<Operand> operands;  // the bias among them
};

// What the op's result is, as oneDNN sees it.
struct Result {
  dnnl::memory::dims dims;
  dnnl::memory::dims strides;
  int channel_axis;
};

// Appends the epilogue of `problem` to `post_ops`; with `bias_first` a bias in front becomes DNNL_ARG_BIAS (of desc
// `bias`). Returns "" or the reason why oneDNN cannot do it.
std::string TranslateEpilogue(const KernelProblem& problem, const Result& result, bool bias_first, PostOps* post_ops,
                              dnnl::memory::desc* bias);

}  // namespace wherry::onednn
