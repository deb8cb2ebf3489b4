// wherry show: a model's program, and why each kernel was picked.
#include <cstdio>

#include "command.h"
#include "model_options.h"
#include "npz.h"
#include "wherry/explain.h"
#include "wherry/program.h"
#include "wherry/text.h"

namespace wherry::tools {

namespace {

struct ShowOptions : ModelOptions {
  bool measure = false;
  std::string format = "text";
  std::string explain;
  bool check = false;
  bool optimized = false;
};

void Show(const ShowOptions& options) {
  CxxConfig config = options.Config();
  if (options.check) {
    const std::vector<std::string> problems = CheckModel(config);
    for (const std::string& problem : problems) std::printf("%s\n", problem.c_str());
    if (!problems.empty()) throw Error(ErrorCode::kUnsupported, "'" + Printable(options.model) + "' cannot run here");
    std::printf("every operator of '%s' can run\n", Printable(options.model).c_str());
    return;
  }
  if (!options.explain.empty()) {
    ExplainOptions explain;
    explain.measure = options.measure;
    explain.shapes = options.Shapes();
    if (!options.inputs.empty()) explain.inputs = ReadNpz(options.inputs);
    std::fputs(ExplainOp(config, options.explain, explain).c_str(), stdout);
    return;
  }
  if (!options.optimized && options.passes.empty()) config.set_passes_internal({"none"});
  std::fputs(ShowModel(config, options.format).c_str(), stdout);
}

}  // namespace

void AddShowCommand(CLI::App* app) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* command = app->add_subcommand("show", "Prints a model's program, as loaded or optimised.");
  options->AddModel(command);
  options->AddInputs(command);
  options->AddRun(command);
  command->add_option("--format", options->format, "text (weights shortened), wir (exact), dot, svg, json")
      ->check(CLI::IsMember({"text", "wir", "dot", "svg", "json"}));
  command->add_flag("--optimized", options->optimized, "after the default pipeline instead of as loaded");
  command->add_flag("--check", options->check,
                    "only lists what cannot run: operators that are not read, or have no kernel");
  command->add_option("--explain", options->explain,
                      "the candidates for an op (its label, result or type), their costs and refusals");
  command->add_flag("--measure", options->measure, "with --explain: runs the model, and times every candidate");
  command->callback([options, command] {
    if (options->check && (command->count("--format") != 0 || !options->explain.empty()))
      throw CLI::ValidationError("--check", "prints what cannot run: neither --format nor --explain goes with it");
    if (options->measure && options->explain.empty()) throw CLI::ValidationError("--measure", "needs --explain");
    const bool given = command->count("--inputs") != 0 || command->count("--shape") != 0;
    if (given && !options->measure && !options->fix_shapes)
      throw CLI::ValidationError("--inputs, --shape", "need --measure or --fix-shapes");
    if (!options->explain.empty() && command->count("--format") != 0)
      throw CLI::ValidationError("--explain", "prints text: --format does not go with it");
    RefuseEmpty(*command);
    Show(*options);
  });
}

}  // namespace wherry::tools
