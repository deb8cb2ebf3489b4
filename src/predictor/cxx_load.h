// From a CxxConfig to an optimised program.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/program.h"
#include "pass/optimizer.h"
#include "wherry/config.h"
#include "wherry/predictor.h"

namespace wherry {

struct LoadedModel {
  Program program;
  double import_ms = 0;
  OptimizeReport report;  // empty when the file was optimised already or the passes are {"none"}
  // The config's watched values, by what the optimised program calls them.
  std::map<std::string, std::string> watched;
};

// Who takes part in a load; each may be null.
struct LoadObserver {
  std::function<Program()> import;  // gives the program instead of the config's file
  std::function<void(const Program&)> imported;
  std::function<void(const std::string&, int, const mir::SSAGraph&)> after_pass;  // as OptimizerOptions says
};

// Imports without optimising. `unsupported`: as ModelSource says (importer/importer.h).
Program ImportFromConfig(const CxxConfig& config, std::vector<std::string>* unsupported = nullptr);
// The passes that a config asks for: its own list, or the default pipeline without the discarded ones. Error(kNotFound)
// on unknown names.
std::vector<std::string> PassesOf(const CxxConfig& config);
// What kernels are picked for: one thread (null), or when tuning the config's, which it measures on.
std::shared_ptr<ThreadPool> PickingPool(const CxxConfig& config);
// Imports, and optimises unless the file already is.
LoadedModel LoadModel(const CxxConfig& config, const LoadObserver& observer = {});
// A predictor of a program that comes from elsewhere than the config's file: optimised as the config says, unless it is
// already.
std::shared_ptr<PaddlePredictor> CreatePaddlePredictor(Program&& program, const CxxConfig& config);

}  // namespace wherry
