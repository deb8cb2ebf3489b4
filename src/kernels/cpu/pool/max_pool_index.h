// Maximum over windows of f32 images and volumes in the plain layout, and where it is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/pool/pool2d.h"

namespace wherry::cpu {

// How positions are counted: row-major in their plane or in all planes, or in all planes with columns outermost.
enum class PositionOrder : uint8_t { kPlane, kTensor, kColumnMajor };

struct IndexPoolShape {
  int64_t planes = 0;  // batch times channels
  PoolAxis depth;
  PoolAxis rows;
  PoolAxis columns;
  PositionOrder order = PositionOrder::kPlane;
};

// Bytes of scratch memory.
size_t MaxPoolIndexScratch(const IndexPoolShape& shape, int threads);

// Of equal elements the first counts, NaN is above all; a window without pixels is -inf at -1. Index: int32_t, int64_t.
template <typename Index>
void MaxPoolWithIndex(const IndexPoolShape& shape, const float* in, float* out, Index* mask, void* scratch,
                      ThreadPool* pool);

}  // namespace wherry::cpu
