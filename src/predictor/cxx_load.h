// From a CxxConfig to an optimised program.
#pragma once

#include "ir/program.h"
#include "pass/optimizer.h"
#include "wherry/config.h"

namespace wherry {

struct LoadedModel {
  Program program;
  double import_ms = 0;
  OptimizeReport report;  // empty when the file was optimised already or the passes are {"none"}
};

// Imports without optimising.
Program ImportFromConfig(const CxxConfig& config);
// The passes that a config asks for: its own list, or the default pipeline without the discarded ones. Error(kNotFound)
// on unknown names.
std::vector<std::string> PassesOf(const CxxConfig& config);
// Imports, and optimises unless the file already is. `after_pass` is called as OptimizerOptions says.
LoadedModel LoadModel(const CxxConfig& config,
                      std::function<void(const std::string&, int, const mir::SSAGraph&)> after_pass = nullptr);

}  // namespace wherry
