// wherry opt: optimises a model and stores it.
#include <algorithm>
#include <cstdio>

#include "command.h"
#include "model_options.h"
#include "npz.h"
#include "outputs.h"
#include "report.h"
#include "wherry/explain.h"
#include "wherry/file.h"
#include "wherry/text.h"

namespace wherry::tools {

namespace {

struct OptOptions : ModelOptions {
  std::string output;
  std::string report;
  std::string dump;
  std::string stop_after;
  bool measure = false;
  bool pack = false;
  bool tune = false;
  std::string tune_cache;
  std::string record_kernels;
};

// The page or its data, not text.
bool IsPage(const std::string& report) { return report.ends_with(".html") || report.ends_with(".json"); }

void WriteReport(const OptOptions& options, const CxxConfig& config) {
  ExplainOptions explain;
  explain.shapes = options.Shapes();
  explain.measure = options.measure;
  if (!options.inputs.empty()) explain.inputs = ReadNpz(options.inputs);
  const std::string json = ToJson(ExplainModel(config, explain));
  WriteFile(options.report, options.report.ends_with(".json") ? json : ReportPage(json));
}

bool KnowsItsShapes(const PaddlePredictor& predictor) {
  const std::vector<ValueInfo>& inputs = predictor.Inputs();
  return std::all_of(inputs.begin(), inputs.end(), [](const ValueInfo& input) {
    return input.rank_known &&
           std::all_of(input.dims.begin(), input.dims.end(), [](const InputDim& dim) { return dim.value >= 0; });
  });
}

void PrintWritten(const OptOptions& options) {
  for (const std::string& path : {options.report, options.record_kernels, options.dump, options.output}) {
    if (!path.empty()) std::printf("wrote %s\n", Printable(path).c_str());
  }
}

// What happened in a few lines, and how to see more.
void PrintSummary(const OptOptions& options, const PaddlePredictor& predictor) {
  std::printf("read %s in %.1f ms\n", Printable(options.model).c_str(), predictor.GetLoadTimes().import_ms);
  const std::string summary = predictor.OptimizeSummaryText();
  std::printf("%s", summary.empty() ? "no pass ran\n" : summary.c_str());
  PrintWritten(options);
  if (options.report.empty() && !summary.empty())
    std::printf("what each pass did, and why: --report FILE (.html: as a page)\n");
}

void Optimize(const OptOptions& options) {
  CheckOutputs(options, {{"--output", options.output, {}},
                         {"--report", options.report, {}},
                         {"--record-kernels", options.record_kernels, {}},
                         {"--tune-cache", options.tune_cache, {}},
                         {"--dump", options.dump, {".wir", ".wry"}}});
  // Nobody would look for a .wry in them.
  for (const std::string ending : {".onnx", ".pdmodel", ".json"}) {
    if (options.output.ends_with(ending))
      throw Error(ErrorCode::kInvalidArgument, "--output is written as .wry, which should not be called " + ending);
  }
  CxxConfig config = options.Config();
  config.set_stop_after(options.stop_after);
  if (options.tune) config.set_tuning({options.tune_cache, options.GivenShapes()});
  const bool page = IsPage(options.report);
  if (page) WriteReport(options, config);
  if (page && options.output.empty() && options.dump.empty() && options.record_kernels.empty())
    return PrintWritten(options);
  config.set_dump_dir(options.dump);
  const auto predictor = CreatePaddlePredictor(config);
  // With dynamic dimensions kernels choose when they know them.
  if (options.pack && !KnowsItsShapes(*predictor)) {
    const std::map<std::string, Tensor> inputs = options.Inputs(*predictor);
    SetInputs(predictor.get(), inputs);
    FirstRun(predictor.get(), options, inputs);
  }
  if (!options.output.empty()) predictor->SaveOptimizedModel(options.output, options.pack);
  if (!options.record_kernels.empty())
    WriteFile(options.record_kernels, "# " + Printable(options.model) + "\n" + predictor->RequiredKernels());
  if (!options.report.empty() && !page) WriteFile(options.report, predictor->OptimizeReportText());
  PrintSummary(options, *predictor);
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
                      "writes what each pass did, and why, to a file: a page (.html), its data (.json), or else text");
  command->add_flag("--measure", options->measure,
                    "for the page and its data: runs the model for a second and gives each op's time");
  command->add_option("--dump", options->dump,
                      "writes the program after every pass to DIR/NNN_pass.wir, files that can be given as MODEL");
  command->add_flag("--tune", options->tune,
                    "times each op's kernels on this machine, for the shapes of --shape or --inputs, and picks kernels "
                    "and layouts by that");
  command->add_option("--tune-cache", options->tune_cache,
                      "with --tune: the file that keeps the times for the next model");
  command->add_flag("--pack", options->pack,
                    "stores the weights also as the kernels read them: a larger file that is ready at once");
  command->add_option("--record-kernels", options->record_kernels,
                      "writes which operators and kernels the model needs, for a slim build of the light library");
  command->add_option("--stop-after", options->stop_after, "ends after this pass");
  command->callback([options, command] {
    RefuseEmpty(*command);
    if (!options->tune && !options->tune_cache.empty()) throw CLI::ValidationError("--tune-cache", "needs --tune");
    if (options->output.empty() && options->report.empty() && options->dump.empty() && options->record_kernels.empty())
      throw CLI::RequiredError("--output, --report, --dump or --record-kernels");
    if (options->measure && !IsPage(options->report))
      throw CLI::ValidationError("--measure", "needs --report with a file that ends with .html or .json");
    Optimize(*options);
  });
}

}  // namespace wherry::tools
