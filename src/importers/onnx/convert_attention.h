// What the converters of attention share.
#pragma once

#include <cstdint>
#include <string>

#include "importers/onnx/converter.h"

namespace wherry::onnx {

// Each head of keys or values [batch, heads, sequence, size] once for every one of the `times` heads of the query that
// use it.
std::string Repeated(OnnxContext& c, const std::string& x, int64_t times);

}  // namespace wherry::onnx
