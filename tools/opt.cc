// wherry opt: optimises a model and stores it.
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "command.h"
#include "model_options.h"
#include "npz.h"
#include "report.h"
#include "text.h"
#include "wherry/explain.h"

namespace wherry::tools {

namespace {

struct OptOptions : ModelOptions {
  std::string output;
  std::string report;
  std::string dump;
  std::string stop_after;
  bool measure = false;
};

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

void WriteReport(const OptOptions& options, const CxxConfig& config) {
  ExplainOptions explain;
  explain.shapes = options.Shapes();
  explain.measure = options.measure;
  if (!options.inputs.empty()) explain.inputs = ReadNpz(options.inputs);
  const std::string json = ToJson(ExplainModel(config, explain));
  WriteFile(options.report, EndsWith(options.report, ".json") ? json : ReportPage(json));
  std::printf("wrote %s\n", options.report.c_str());
}

void Optimize(const OptOptions& options) {
  std::error_code unknown;  // a file that is missing is no problem, or is reported where it is opened
  for (const std::string& written : {options.output, options.report}) {
    if (std::filesystem::equivalent(options.model, written, unknown))
      throw Error(ErrorCode::kInvalidArgument, "the output '" + written + "' is the model itself");
  }
  CxxConfig config = options.Config();
  config.set_stop_after(options.stop_after);
  const bool page = EndsWith(options.report, ".html") || EndsWith(options.report, ".json");
  if (page) WriteReport(options, config);
  if (page && options.output.empty() && options.dump.empty()) return;
  config.set_dump_dir(options.dump);
  const auto predictor = CreatePaddlePredictor(config);
  const std::string report = predictor->OptimizeReportText();
  if (!options.output.empty()) predictor->SaveOptimizedModel(options.output);
  if (options.report.empty()) std::fputs(report.c_str(), stdout);
  if (!options.report.empty() && !page) {
    WriteFile(options.report, report);
    std::printf("wrote %s\n", options.report.c_str());
  }
  if (!options.output.empty()) std::printf("wrote %s\n", options.output.c_str());
}

}  // namespace

void AddOptCommand(CLI::App* app) {
  auto options = std::make_shared<OptOptions>();
  CLI::App* command = app->add_subcommand("opt", "Optimises a model and stores it as .wry.");
  options->AddModel(command);
  options->AddInputs(command);
  options->AddRun(command);
  command->add_option("-o,--output", options->output, "the .wry file to write");
  command->add_option("--report", options->report,
                      "writes what happened, and why, to a file: a page (.html), its data (.json), or what each pass "
                      "did as text, which is printed otherwise");
  command->add_flag("--measure", options->measure,
                    "for the page and its data: runs the model for a second and gives each op's time");
  command->add_option("--dump", options->dump,
                      "writes the program after every pass to DIR/NNN_pass.wir, files that can be given as MODEL");
  command->add_option("--stop-after", options->stop_after, "ends after this pass");
  command->callback([options, command] {
    if (command->count("--output") != 0 && options->output.empty())
      throw Error(ErrorCode::kInvalidArgument, "the name of the output is empty");
    if (options->output.empty() && options->report.empty() && options->dump.empty())
      throw CLI::RequiredError("--output, --report or --dump");
    if (options->measure && !EndsWith(options->report, ".html") && !EndsWith(options->report, ".json"))
      throw CLI::ValidationError("--measure", "needs --report with a file that ends with .html or .json");
    Optimize(*options);
  });
}

}  // namespace wherry::tools
