// wherry opt: optimises a model and stores it.
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "command.h"
#include "model_options.h"
#include "text.h"

namespace wherry::tools {

namespace {

struct OptOptions : ModelOptions {
  std::string output;
  std::string report;
  std::string dump;
  std::string stop_after;
};

std::string HtmlEscape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      default: out += c;
    }
  }
  return out;
}

void Optimize(const OptOptions& options) {
  std::error_code unknown;  // a file that is missing is no problem, or is reported where it is opened
  if (std::filesystem::equivalent(options.model, options.output, unknown))
    throw Error(ErrorCode::kInvalidArgument, "the output '" + options.output + "' is the model itself");
  CxxConfig config = options.Config();
  config.set_dump_dir(options.dump);
  config.set_stop_after(options.stop_after);
  const auto predictor = CreatePaddlePredictor(config);
  const std::string report = predictor->OptimizeReportText();
  predictor->SaveOptimizedModel(options.output);
  if (!options.report.empty()) {
    const bool html = options.report.size() > 5 && options.report.compare(options.report.size() - 5, 5, ".html") == 0;
    WriteFile(options.report, html ? "<!doctype html><meta charset=\"utf-8\"><title>wherry opt</title><pre>" +
                                         HtmlEscape(report) + "\n" + HtmlEscape(predictor->ProgramText()) + "</pre>\n"
                                   : report);
  } else {
    std::fputs(report.c_str(), stdout);
  }
  std::printf("wrote %s\n", options.output.c_str());
}

}  // namespace

void AddOptCommand(CLI::App* app) {
  auto options = std::make_shared<OptOptions>();
  CLI::App* command = app->add_subcommand("opt", "Optimises a model and stores it as .wry.");
  options->AddModel(command);
  options->AddRun(command);
  command->add_option("-o,--output", options->output, "the .wry file to write")->required();
  command->add_option("--report", options->report,
                      "writes what each pass did to a file (.html or text) instead of printing it");
  command->add_option("--dump", options->dump, "writes the program after every pass to DIR/NNN_pass.wir");
  command->add_option("--stop-after", options->stop_after, "ends after this pass");
  command->callback([options] { Optimize(*options); });
}

}  // namespace wherry::tools
