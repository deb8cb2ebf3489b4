// What fuzzed programs are run on. It follows from names alone, so that a .wir file repeats a failure: the input
// x3:-2:2 has numbers in [-2, 2], and the symbol N4 is 4.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/program.h"

namespace wherry::graph_fuzz {

// Random numbers in [low, high] (see tests/conformance/make_tensor.h), behind which lies memory that must not be read.
DenseTensor RandomTensor(DataType dtype, const std::vector<int64_t>& dims, int low, int high, uint64_t seed);
// One tensor per input of the program. An input whose name has no range is in [-2, 2], or in [0, 2] if its numbers are
// whole; a symbol without a number in its name is 3.
std::vector<DenseTensor> InputsFor(const Program& program);

}  // namespace wherry::graph_fuzz
