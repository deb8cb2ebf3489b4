// wherry verify: the same outputs with and without passes.
#include <cstdio>
#include <limits>

#include "command.h"
#include "model_options.h"
#include "npz.h"
#include "wherry/program.h"

namespace wherry::tools {

namespace {

struct CheckOptions : ModelOptions {
  double tolerance = 1e-4;
};

void Check(const CheckOptions& options) {
  VerifyOptions verify;
  verify.shapes = options.Shapes();
  verify.tolerance = options.tolerance;
  if (!options.inputs.empty()) verify.inputs = ReadNpz(options.inputs);
  const VerifyResult result = VerifyModel(options.Config(), verify);
  if (!result.ok) throw Error(ErrorCode::kOutOfRange, result.report);
  std::printf("ok: %s\n", result.report.c_str());
}

}  // namespace

void AddVerifyCommand(CLI::App* app) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = app->add_subcommand(
      "verify", "Compares a model's outputs with and without passes; names the first pass and op that differ.");
  options->AddModel(command);
  options->AddInputs(command);
  options->AddRun(command);
  command
      ->add_option("--tolerance", options->tolerance,
                   "largest difference, relative to the largest magnitude of an output")
      ->check(Number(0, std::numeric_limits<double>::max()))
      ->capture_default_str();
  command->callback([options, command] {
    RefuseEmpty(*command);
    Check(*options);
  });
}

}  // namespace wherry::tools
