// The data type of a result that mixes two types.
#pragma once

#include "wherry/types.h"

namespace wherry {

// The type that holds what both a and b hold, as NumPy promotes the types of arrays (i32 with f32 gives f64, u64 with
// i8 gives f64); bf16 counts as f16 against integers, and with f16 gives f32. Equal types stay, whatever they are;
// kUndefined stands for "no operand" and gives the other type. Error(kInvalidArgument) when there is no such type:
// strings, and different storage-only types.
DataType PromoteTypes(DataType a, DataType b);

}  // namespace wherry
