// wherry run: one run of a model.
#include <cctype>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "command.h"
#include "model_options.h"
#include "npz.h"
#include "outputs.h"
#include "trace.h"
#include "wherry/file.h"
#include "wherry/text.h"

namespace wherry::tools {

namespace {

struct RunOptions : ModelOptions {
  std::string outputs;
  std::string profile;
  std::string dump_tensors;
  bool check_numerics = false;
  bool json = false;
};

double MillisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// Each value in a file of its own, DIR/00042_NAME.npz with the array NAME, numbered in the order they are made.
ValueObserver Dump(const std::string& dir) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) {
    throw Error(ErrorCode::kUnavailable,
                "cannot make the folder '" + Printable(dir) + "' of --dump-tensors: " + error.message());
  }
  return [dir, count = 0](const std::string& /*op*/, const std::string& name, const Tensor& value) mutable {
    std::string file = name;
    for (char& c : file) {
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-') c = '_';
    }
    constexpr size_t kMostCharacters = 100;
    char number[16];
    std::snprintf(number, sizeof(number), "%05d_", count++);
    WriteNpz(dir + "/" + number + file.substr(0, kMostCharacters) + ".npz", {{name, value}});
  };
}

void Run(const RunOptions& options) {
  CheckOutputs(options, {{"--outputs", options.outputs, {}},
                         {"--profile", options.profile, {}},
                         {"--dump-tensors", options.dump_tensors, {".npz"}}});
  const auto load_start = std::chrono::steady_clock::now();
  CxxConfig config = options.Config();
  config.set_numeric_check(options.check_numerics);
  if (!options.dump_tensors.empty()) config.set_observer(Dump(options.dump_tensors));
  const auto predictor = CreatePaddlePredictor(config);
  const double load_ms = MillisecondsSince(load_start);
  const std::map<std::string, Tensor> inputs = options.Inputs(*predictor);
  SetInputs(predictor.get(), inputs);
  predictor->SetProfiling(!options.profile.empty());
  const auto run_start = std::chrono::steady_clock::now();
  FirstRun(predictor.get(), options, inputs);
  const double run_ms = MillisecondsSince(run_start);
  const std::vector<std::string> names = predictor->GetOutputNames();
  std::vector<std::pair<std::string, Tensor>> arrays;
  for (size_t i = 0; i < names.size(); ++i) arrays.emplace_back(names[i], *predictor->GetOutput(static_cast<int>(i)));
  if (!options.outputs.empty()) WriteNpz(options.outputs, arrays);
  if (!options.profile.empty())
    WriteFile(options.profile, ChromeTrace(predictor->LoadProfile(), predictor->Profile(), load_ms * 1e3));
  if (options.json) {
    nlohmann::ordered_json json{{"load_ms", load_ms}, {"run_ms", run_ms}, {"outputs", nlohmann::ordered_json::array()}};
    for (const auto& [name, tensor] : arrays) {
      json["outputs"].push_back(
          {{"name", name}, {"dtype", ToString(tensor.dtype())}, {"shape", tensor.shape().vector()}});
    }
    std::printf("%s\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
    return;
  }
  if (options.inputs.empty()) std::printf("random inputs: %s\n", Describe(inputs).c_str());
  for (const auto& [name, tensor] : arrays)
    std::printf("%s: %s\n", Printable(name).c_str(), tensor.DebugString().c_str());
  std::printf("load %.2f ms, run %.2f ms (the first run on this shape)\n", load_ms, run_ms);
}

}  // namespace

void AddRunCommand(CLI::App* app) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app->add_subcommand("run", "Runs a model once.");
  options->AddModel(command);
  options->AddInputs(command);
  options->AddRun(command);
  command->add_option("--outputs", options->outputs, "writes the outputs to an .npz file, keys are their names");
  command->add_option("--profile", options->profile, "writes a trace that chrome://tracing and Perfetto open");
  command->add_option("--dump-tensors", options->dump_tensors,
                      "writes every value to DIR/NNNNN_name.npz in the order they are made");
  command->add_flag("--check-numerics", options->check_numerics,
                    "ends at the first op that makes a NaN or an infinity of finite numbers");
  command->add_flag("--json", options->json, "prints the summary as JSON");
  command->callback([options, command] {
    RefuseEmpty(*command);
    Run(*options);
  });
}

}  // namespace wherry::tools
