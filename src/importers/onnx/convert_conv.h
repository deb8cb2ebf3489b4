// Convolution as the attributes of an ONNX operator say it.
#pragma once

#include <string>

#include "importers/onnx/converter.h"

namespace wherry::onnx {

// The operator's attributes applied to `x` and `filter`, floats of one type, in place of its inputs. `bias` may be
// empty.
std::string EmitConv(OnnxContext& c, std::string x, std::string filter, const std::string& bias);

}  // namespace wherry::onnx
