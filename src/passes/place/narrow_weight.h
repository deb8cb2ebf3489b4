// A constant f32 matrix in fewer bits, as weight_only_linear takes it: a row per column of the product. Weights that
// are taken have their bytes in memory (pass/weight_in_memory.h).
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

// The largest magnitude of its numbers; infinity if one is NaN.
float Largest(const DenseTensor& weight);

// Finite numbers as f16 or bf16, in whose range they are, to the nearest; or as i8 with a scale for each 128 of a row.
// `turned`: rows are columns where the weight lies. `error`: what is largest of what they are off.
NarrowWeight ToHalves(DataType dtype, const DenseTensor& weight, bool turned, float* error);
NarrowWeight ToInt8(const DenseTensor& weight, bool turned, float* error);

}  // namespace wherry::mir
