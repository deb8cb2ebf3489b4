// What running a kernel will roughly cost, from shapes alone: operations, bytes, and measured rates per family of
// kernels. For choosing among candidates for one op, and for seeing where a network's time will go: a family's rates
// are those of its common sizes, so one op may be off by two or three.
#pragma once

#include <span>

#include "kernel/kernel.h"
#include "kernel/problem.h"

namespace wherry {

// A symbolic dimension counts as this many.
inline constexpr int64_t kAssumedDim = 32;

// Kernels whose time follows from operations and bytes at the same rates, on one thread. `wherry bench --ops` prints
// what it measures per family (docs/design/kernels.md).
struct CostFamily {
  const char* name;  // "winograd"
  double gflops;     // 1e9 operations a second; a multiply-add counts as two
  double gbytes;     // 1e9 bytes a second, read and written
};
std::span<const CostFamily> CostFamilies();

struct Cost {
  const CostFamily* family = nullptr;  // null: nobody knows, as for control flow
  double operations = 0;               // 0 for what only moves elements
  double bytes = 0;                    // read and written
  double microseconds = 0;             // on the problem's threads
};
Cost EstimateCost(const Kernel& kernel, const KernelProblem& problem);
// What it costs, beyond the kernel's own time, that the processors go from one set of threads to another and back when
// a kernel with threads of its own runs among others on `threads` threads. EstimateCost counts it.
double HandOverMicroseconds(const Kernel& kernel, int threads);
double EstimateBytes(const MetaTensor& tensor);
// Moving a tensor to another layout or type within a memory space, or to another memory space, on so many threads.
double EstimateConversionMicroseconds(const MetaTensor& tensor, int threads);

}  // namespace wherry
