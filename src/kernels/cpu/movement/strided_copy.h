// Copies between tensors that lie in memory in different orders: transposes, layouts, slices, joins, repetitions.
#pragma once

#include <cstddef>

#include "base/thread_pool.h"
#include "kernels/cpu/vector/elementwise.h"

namespace wherry::cpu {

// to[...] = from[...] over `loops` (of one input; its strides may be 0 or negative), for elements of 1, 2, 4, 8 or 16
// bytes. The memory does not overlap. No alignment is assumed beyond the element's own. Thread-safe, allocates nothing;
// a null pool means on the caller alone.
void StridedCopy(const BroadcastLoops& loops, const void* from, void* to, size_t element_size, ThreadPool* pool);

}  // namespace wherry::cpu
