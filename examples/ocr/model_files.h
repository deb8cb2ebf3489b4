// Finding the networks in a folder.
#pragma once

#include <string>

#include "text_reader.h"

namespace ocr {

// The folder's one entry with "det" in its name, the one with "cls" and the one with "rec", each a model: an .onnx or
// .wry file, or a folder in Paddle's form; and its .txt file, if there is one, as the dictionary. A path that `given`
// has already stays. std::runtime_error if one is missing or there are several.
ModelPaths FindModels(const std::string& folder, ModelPaths given = {});

}  // namespace ocr
