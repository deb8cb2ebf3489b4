// What a command is asked to write.
#pragma once

#include <string>
#include <vector>

#include "model_options.h"

namespace wherry::tools {

struct Output {
  std::string option;  // "--report"
  std::string path;    // empty: not asked for
  // For a folder: the endings of what is written into it.
  std::vector<std::string> endings;
};

// Error(kInvalidArgument) if an output is one of the files that the model or its inputs are read from, or two outputs
// are the same file, through links too. Before anything is written.
void CheckOutputs(const ModelOptions& options, const std::vector<Output>& outputs);

}  // namespace wherry::tools
