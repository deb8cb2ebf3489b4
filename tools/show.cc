// wherry show: a model's program, and why each kernel was picked.
#include <cstdio>

#include "command.h"
#include "model_options.h"
#include "wherry/program.h"
#include "wherry/text.h"

namespace wherry::tools {

namespace {

struct ShowOptions : ModelOptions {
  std::string format = "text";
  std::string explain;
  bool check = false;
  bool optimized = false;
};

void Show(const ShowOptions& options) {
  CxxConfig config = options.Config();
  if (options.check) {
    const std::vector<std::string> problems = CheckModel(config);
    if (!problems.empty()) throw Error(ErrorCode::kUnsupported, problems[0]);
    std::printf("every operator of '%s' can run\n", Printable(options.model).c_str());
    return;
  }
  if (!options.explain.empty()) {
    std::fputs(ExplainOp(config, options.explain).c_str(), stdout);
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
  options->AddRun(command);
  command->add_option("--format", options->format, "text (weights shortened), wir (exact), dot, svg, json")
      ->check(CLI::IsMember({"text", "wir", "dot", "svg", "json"}));
  command->add_flag("--optimized", options->optimized, "after the default pipeline instead of as loaded");
  command->add_flag("--check", options->check, "only says whether every operator can run");
  command->add_option("--explain", options->explain,
                      "the candidates for an op (its label, result or type), their costs and refusals");
  command->callback([options, command] {
    if (options->check && (command->count("--format") != 0 || !options->explain.empty()))
      throw CLI::ValidationError("--check", "prints one line: neither --format nor --explain goes with it");
    if (!options->explain.empty() && command->count("--format") != 0)
      throw CLI::ValidationError("--explain", "prints text: --format does not go with it");
    RefuseEmpty(*command, {"--explain"});
    Show(*options);
  });
}

}  // namespace wherry::tools
