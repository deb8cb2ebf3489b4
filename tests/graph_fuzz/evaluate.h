// Running fuzzed programs, and how far apart two results may be.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/program.h"

namespace wherry::graph_fuzz {

// Each output in the plain layout.
using Outputs = std::vector<DenseTensor>;

// One run by the runtime, with so many threads and with memory that holds no value poisoned. With `twice`, the results
// of a second run of the same session; the first ones must not change under it. Errors as the runtime's.
Outputs RunProgram(Program program, const std::vector<DenseTensor>& inputs, int threads, bool poison,
                   bool twice = false);

// "" when `got` is what `plain`, the results of `program` without passes, says: shapes and types equal, numbers that
// are whole equal, others within their type's rounding of the largest magnitude, or within a multiple of what noise
// does to them. An infinity or NaN that follows from numbers which overflow on the way is compared with nothing:
// factors that a pass joins may keep them from that. Otherwise which output and element.
std::string Difference(const Program& program, const std::vector<DenseTensor>& inputs, const Outputs& plain,
                       const Outputs& got);

}  // namespace wherry::graph_fuzz
