// What running a kernel will roughly cost, from shapes alone: operations, bytes, and a few measured constants per kind
// of provider. Good for comparing candidates for one op, not for predicting times.
#pragma once

#include "kernel/kernel.h"
#include "kernel/problem.h"

namespace wherry {

// A symbolic dimension counts as this many.
inline constexpr int64_t kAssumedDim = 32;

// Operations (a multiply-add counts as two) and bytes read and written.
struct Work {
  double operations = 0;
  double bytes = 0;
};
Work EstimateWork(const KernelProblem& problem);
double EstimateBytes(const MetaTensor& tensor);
double EstimateMicroseconds(const Kernel& kernel, const KernelProblem& problem);
// Moving a tensor to another layout or type within a memory space, or to another memory space.
double EstimateConversionMicroseconds(const MetaTensor& tensor);

}  // namespace wherry
