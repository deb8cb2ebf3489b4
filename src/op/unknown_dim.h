// What an InferMeta function says of a dimension that the values of a tensor decide, in a result of known rank.
#pragma once

#include <cstdint>

namespace wherry {

// Whoever infers a graph puts a symbol of its own there. No other negative dimension leaves InferMeta.
inline constexpr int64_t kUnknownDim = INT64_MIN;

}  // namespace wherry
