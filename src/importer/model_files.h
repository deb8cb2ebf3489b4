// Finding and opening the files of a model.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "importer/importer.h"

namespace wherry {

// `name`, as a model file has it, if it stays inside the model's folder: relative, without "." and ".." parts. Else
// Error(kInvalidArgument).
void CheckFileName(const std::string& name);

// Maps the file `name` of `folder`. Error(kInvalidArgument) also when a link leads out of the folder; kNotFound when it
// is absent.
FileBytes OpenInFolder(const std::string& folder, const std::string& name);
// Maps any file.
FileBytes OpenFile(const std::string& path);

// Where the parameters of a Paddle model are, by its main file's name. All names are relative to the model's folder.
struct ParamsGuess {
  std::vector<std::string> files;  // candidates for one file with all parameters, in order
  bool may_be_separate = false;    // or one file per parameter
};
ParamsGuess GuessParams(const std::string& model_name);

// The main file of a folder: one with a name that Paddle gives (model.pdmodel, inference.json, __model__, ...), else
// the only .pdmodel or .onnx file, else the only .json file. Error(kNotFound) that lists what was looked for and what
// is there; kInvalidArgument when several may be meant.
std::string FindMainFile(const std::string& folder);

}  // namespace wherry
