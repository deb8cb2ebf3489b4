// Random tensors: the same for a seed on every machine with the same standard library.
#pragma once

#include <cstdint>

#include "wherry/tensor.h"

namespace wherry {

// Floats uniform in [-1, 1), integers and bools 0 or 1. Error(kUnsupported) for strings and storage-only types.
Tensor RandomTensor(DataType dtype, const Shape& shape, uint64_t seed);

}  // namespace wherry
