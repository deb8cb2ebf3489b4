// What libwherry_onednn.so, which registers oneDNN's kernels, finds in libwherry_onednn_primitives.so, which is linked
// to oneDNN. Two libraries, because opening oneDNN takes 4 ms, which is half of loading a small network that never asks
// for it: the second is opened when a kernel is first asked whether it can run.
#pragma once

#include "kernel/kernel.h"

namespace wherry::onednn {

struct KernelFunctions {
  SupportsFn supports;
  PlanFn plan;
  PackedBytesFn packed_bytes;
  PackFn pack;
  KernelFn run;
};

struct Functions {
  KernelFunctions conv2d;
  KernelFunctions matmul;
  KernelFunctions fused_matmul;
  KernelFunctions fc;
};

KernelFunctions Conv2dFunctions();
KernelFunctions MatmulFunctions();
KernelFunctions FusedMatmulFunctions();
KernelFunctions FcFunctions();

inline constexpr const char* kPrimitivesLibrary = "libwherry_onednn_primitives.so";
inline constexpr const char* kFunctionsSymbol = "WherryOnednnFunctions";

}  // namespace wherry::onednn

// The second library's only symbol.
extern "C" __attribute__((visibility("default"))) const wherry::onednn::Functions* WherryOnednnFunctions();
