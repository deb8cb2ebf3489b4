// Tensors without an element whose other extents are huge, [2^40, 0].
#pragma once

#include "core/dense_tensor.h"

namespace wherry {

// Kernels walk over the extents of their arguments and find that there is no element on the way; over 2^40 of them that
// would take hours, and no network means it. Error(kUnsupported) when `meta` has no element and its extents that are
// not 0 multiply to more than 2^28. Asked before a kernel that has something to compute is planned or run.
void CheckEmptyExtents(const TensorMeta& meta);

}  // namespace wherry
