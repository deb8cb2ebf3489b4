// What the precision of a place asks for.
#pragma once

#include "wherry/types.h"

namespace wherry {

// The precision in which a valid place asks for the weights of products (weight_precision_pass); undefined: it asks for
// none.
inline DataType WeightPrecisionOf(const Place& place) {
  const DataType precision = place.precision();
  const bool stores = precision == DataType::kFP16 || precision == DataType::kBF16 || precision == DataType::kInt8;
  return stores && IsHostMemory(place.target()) ? precision : DataType::kUndefined;
}

}  // namespace wherry
