// Conversions between element types that plain loops for every x86 processor are slow at.
#pragma once

#include "kernels/cpu/vector/typed_ops.h"

namespace wherry::cpu {

// The loop for the active instruction set: f32 from and to f16 and bf16, from bool, to i32, i64, i8 and u8 (truncated,
// cut to the type's range, NaN as 0). Null for other pairs, and to f16 with SSE4, which has no instructions for it.
TypedTile CastTileOf(DataType from, DataType to);

}  // namespace wherry::cpu
