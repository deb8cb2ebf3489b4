// Lines of a tensor in order.
#pragma once

#include "core/dense_tensor.h"
#include "core/device_context.h"

namespace wherry::cpu {

// The first elements of each line of x along `axis` in ascending order (or descending), as many as `out` has there, and
// where each of them was. Equal ones stay in their order; NaN is the greatest number. Lines are shared out among
// threads. T: float, double or an integer of any size.
template <typename T>
void SortLines(const CpuContext& context, const DenseTensor& x, int axis, bool descending, DenseTensor* out,
               DenseTensor* indices);

}  // namespace wherry::cpu
