// The types that exist only as storage: 8-bit and 4-bit floats, 4-bit and 2-bit integers. Reading and writing elements
// as floats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "wherry/types.h"

namespace wherry::ref {

bool IsStorageOnly(DataType dtype);

// `count` elements of a storage-only type, exact in float but for f8e8m0, whose 2^-127 is. Smaller elements than bytes
// lie from the low bits of a byte up.
std::vector<float> DecodeStorage(DataType dtype, const void* data, int64_t count);

// The other way. Floats: to nearest, ties to even; what lies beyond the largest finite value, infinities too, becomes
// that value (ONNX's saturating cast), or unless `saturate` infinity where the type has one, else NaN; NaN stays NaN,
// or where there is none becomes -0. f4e2m1 always saturates. f8e8m0 (powers of two): up, 0 and less to its smallest.
// Integers: towards zero, of what does not fit the low bits (as NumPy's types have it), NaN gives 0. `data` has
// (bits * count + 7) / 8 bytes.
void EncodeStorage(DataType dtype, std::span<const double> values, bool saturate, void* data);

}  // namespace wherry::ref
