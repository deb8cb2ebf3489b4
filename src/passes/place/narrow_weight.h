// A constant f32 matrix in fewer bits, as weight_only_linear takes it: a row per column of the product. Weights that
// are taken can be read in pieces (pass/weight_in_memory.h).
#pragma once

#include <cstdint>
#include <optional>

#include "core/dense_tensor.h"

namespace wherry::mir {

struct NarrowWeight {
  DenseTensor weight;
  std::optional<DenseTensor> scale;
  int64_t group_size = -1;
};

// Whether all numbers are numbers of this type, f16 or bf16, to the bit. Looks at few of a weight for which that is not
// so. False as well for a weight that can only be read whole.
bool IsExactly(DataType dtype, const DenseTensor& weight);

// The largest magnitude of its numbers; infinity if one is NaN.
float Largest(const DenseTensor& weight);

// As f16 or bf16, to the nearest; `turned`: rows are columns where it lies. Deferred where `weight` is.
NarrowWeight ToHalves(DataType dtype, const DenseTensor& weight, bool turned);
// What is largest of what that is off, of finite numbers in the type's range.
float LargestError(DataType dtype, const DenseTensor& weight);

// Finite numbers as i8 with a scale for each 128 of a row; `error`: what is largest of what they are off.
NarrowWeight ToInt8(const DenseTensor& weight, bool turned, float* error);

}  // namespace wherry::mir
