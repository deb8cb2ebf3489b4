// The types that exist only as storage: 8-bit floats and 4-bit integers. Reading and writing elements as floats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "wherry/types.h"

namespace wherry::ref {

bool IsStorageOnly(DataType dtype);

// `count` elements of a storage-only type, exact in float. 4-bit elements lie two in a byte, the first in the low half.
std::vector<float> DecodeStorage(DataType dtype, const void* data, int64_t count);

// The other way. 8-bit floats: to nearest, ties to even; what lies beyond the largest finite value, infinities too,
// becomes that value (ONNX's saturating cast), or unless `saturate` NaN (e4m3fn) or infinity (e5m2); NaN stays NaN.
// 4-bit integers: towards zero, of what does not fit the low bits (as NumPy's types have it), NaN gives 0. `data` has
// (bits * count + 7) / 8 bytes.
void EncodeStorage(DataType dtype, std::span<const double> values, bool saturate, void* data);

}  // namespace wherry::ref
