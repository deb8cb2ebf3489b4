// The operator's window applied to other values than its inputs.
#pragma once

#include <string>

#include "importers/onnx/converter.h"

namespace wherry::onnx {

// `pooling_type`: "max", "avg" or "sum"; exclusive: an average is of the window's places inside of the image.
std::string EmitPool(OnnxContext& c, const std::string& x, const char* pooling_type, bool exclusive = true);
// Over all that is behind batch and channels: "max" or "avg".
std::string EmitGlobalPool(OnnxContext& c, const std::string& x, const char* pooling_type);

}  // namespace wherry::onnx
