// Lists of strings that attributes hold.
#pragma once

#include <string>
#include <vector>

#include "core/dense_tensor.h"

namespace wherry::onnx {

// string[values.size()].
DenseTensor StringsTensor(const std::vector<std::string>& values);

}  // namespace wherry::onnx
