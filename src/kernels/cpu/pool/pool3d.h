// Maximum, mean and sum over windows of f32 volumes that lie in the plain layout: whole rows are brought together
// first, then the columns of what that gives.
#pragma once

#include <cstdint>

#include "kernels/cpu/pool/pool2d.h"

namespace wherry::cpu {

// Windows along the width that reach further are not taken.
inline constexpr int64_t kMostPoolColumns = 512;

struct VolumePoolShape {
  PoolKind kind = PoolKind::kMax;
  int64_t volumes = 0;  // batch times channels
  PoolAxis depth;
  PoolAxis rows;
  PoolAxis columns;  // not adaptive; dilation * (kernel - 1) < kMostPoolColumns
};

void Pool3d(const VolumePoolShape& shape, const float* in, float* out, ThreadPool* pool);

}  // namespace wherry::cpu
