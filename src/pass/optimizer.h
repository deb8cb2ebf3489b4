// Optimizer: runs passes over a program.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ir/program.h"
#include "pass/pass.h"
#include "pass/report.h"
#include "wherry/types.h"

namespace wherry {

struct OptimizerOptions {
  // Verify the graph and each kind's promise after every pass. The promise is checked in every build; this adds the
  // invariants. Default: on in builds without NDEBUG.
  bool verify =
#ifdef NDEBUG
      false;
#else
      true;
#endif
  // Called after every pass that ran, with its name and number: dumps, and wherry verify.
  std::function<void(const std::string& pass, int index, const mir::SSAGraph& graph)> after_pass;
  std::string stop_after;  // a pass name; empty: run all
  PassContext context;
};

// The names of the default pipeline, in order (pass/pipeline.cc).
const std::vector<std::string>& DefaultPipeline();

class Optimizer {
 public:
  explicit Optimizer(OptimizerOptions options = {}) : options_(std::move(options)) {}

  // The default pipeline when `passes` is empty, exactly the given list otherwise ({"none"}: nothing at all).
  // `valid_places` in order of preference; empty: the machine's own target with f32. An unknown name is
  // Error(kNotFound) with the nearest names, before anything runs. Errors say which pass.
  Program Run(Program&& program, const std::vector<Place>& valid_places,
              const KernelPickFactor& kernel_pick_factor = {}, const std::vector<std::string>& passes = {});
  const OptimizeReport& report() const { return report_; }

 private:
  OptimizerOptions options_;
  OptimizeReport report_;
};

}  // namespace wherry
