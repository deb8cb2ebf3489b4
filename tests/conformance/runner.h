// Runs one case of an operator with one kernel, in one of several ways.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "conformance/case.h"
#include "core/device_context.h"
#include "kernel/kernel.h"

namespace wherry::conformance {

// How a case is run.
struct Variant {
  int threads = 1;
  DataLayout layout = DataLayout::kNCHW;  // of the inputs that follow the kernel's layout
  int64_t pixel_padding = 0;              // kNHWC: elements between pixels, also of the results
  bool constants = false;                 // all tensors but the first are weights, which may be packed
  bool inplace = false;
  bool special_values = false;  // NaN, infinities and the like among the inputs

  std::string DebugString() const;
};

enum class Outcome { kPassed, kFailed, kSkipped };
struct Result {
  Outcome outcome = Outcome::kPassed;
  std::string message;  // the difference or error, or why it was skipped
};

// The variants that make sense for this operator and kernel.
std::vector<Variant> VariantsOf(const OpSchema& schema, const Kernel& kernel);

// `device` null: the processor with variant.threads threads. A kernel for another type than the case's is not asked:
// kSkipped with an empty message. Otherwise the results are compared with those of the `ref` kernel, in f64 where it
// has that.
Result RunCase(const OpCases& op, size_t case_index, const Kernel& kernel, const Variant& variant,
               DeviceContext* device);

}  // namespace wherry::conformance
