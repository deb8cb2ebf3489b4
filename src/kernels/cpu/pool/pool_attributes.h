// What a pool operator's attributes say of its windows.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/cpu/pool/pool2d.h"
#include "op/infer/window.h"

namespace wherry::cpu {

inline PoolKind PoolKindOf(const std::string& pooling_type, bool exclusive) {
  if (pooling_type == "avg") return exclusive ? PoolKind::kAverage : PoolKind::kAverageWithPadding;
  return pooling_type == "sum" ? PoolKind::kSum : PoolKind::kMax;
}

// Windows of a given size along `axis` of the spatial ones, over `in` elements, giving `out`.
inline PoolAxis WindowPoolAxis(const WindowAttributes& window, int axis, int64_t in, int64_t out, int64_t kernel,
                               bool ceil_mode) {
  const auto index = static_cast<size_t>(axis);
  const WindowAxis resolved = ResolveWindowAxis(window, axis, in, kernel, ceil_mode);
  PoolAxis a;
  a.in = in;
  a.out = out;
  a.kernel = kernel;
  a.stride = window.stride[index];
  a.dilation = window.dilation[index];
  a.pad_before = resolved.pad_begin;
  a.pad_after = resolved.pad_end;
  return a;
}

}  // namespace wherry::cpu
