// Weights that are others times numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "core/dense_tensor.h"

namespace wherry {

// An f32 weight in plain layout with its rows of `row` elements scaled: row r by factors[r % factors.size()]. Computed
// when it is first read (Buffer::Deferred), so that a weight which kernels only read packed is never there in full.
DenseTensor ScaledWeight(const DenseTensor& weight, int64_t row, std::vector<double> factors);

}  // namespace wherry
