#include "predictor/cxx_load.h"

#include <algorithm>
#include <filesystem>

#include "base/check.h"
#include "base/mapped_file.h"
#include "base/stopwatch.h"
#include "base/strings.h"
#include "format/wry.h"
#include "importer/importer.h"
#include "ir/text.h"
#include "pass/pass_manager.h"
#include "predictor/cxx_dump.h"

namespace wherry {

namespace {

FileBytes Borrow(const std::string& name, const CxxConfig::Bytes& bytes) {
  return FileBytes{name, {static_cast<const std::byte*>(bytes.data), bytes.size}, nullptr};
}

FileBytes Own(const std::string& name, std::string content) {
  auto owner = std::make_shared<const std::string>(std::move(content));
  return FileBytes{name, {reinterpret_cast<const std::byte*>(owner->data()), owner->size()}, owner};
}

// What --dump wrote, with the weights that it left out of the text.
Program LoadDump(const FileBytes& text) {
  const std::string beside = (std::filesystem::path(text.name).parent_path() / kDumpedWeights).string();
  std::error_code missing;
  WeightTable weights;
  if (std::filesystem::exists(beside, missing)) weights = LoadWry(FileBytes(beside, MappedFile::Open(beside))).weights;
  return ParseProgram({reinterpret_cast<const char*>(text.data.data()), text.data.size()}, std::move(weights));
}

}  // namespace

Program ImportFromConfig(const CxxConfig& config) {
  if (config.model_buffer().data != nullptr) {
    FileBytes model = Borrow("model in memory", config.model_buffer());
    if (IsWry(model.data)) return LoadWry(model);
    return ImportModel(std::move(model), Borrow("parameters in memory", config.params_buffer()));
  }
  if (config.reader() != nullptr) {
    return ImportModel(config.model_path(),
                       [&config](const std::string& name) { return Own(name, config.reader()(name)); });
  }
  WHERRY_ENFORCE(!config.model_path().empty(), kInvalidArgument, "the config names no model");
  std::error_code no_folder;  // what is wrong with the path is said when it is opened
  if (!std::filesystem::is_directory(config.model_path(), no_folder)) {
    const FileBytes bytes(config.model_path(), MappedFile::Open(config.model_path()));
    if (IsWry(bytes.data)) return LoadWry(bytes);
    if (config.model_path().ends_with(".wir")) return LoadDump(bytes);
  }
  return ImportModel(config.model_path(), config.param_path());
}

std::vector<std::string> PassesOf(const CxxConfig& config) {
  if (!config.passes().empty()) return config.passes();
  std::vector<std::string> passes = DefaultPipeline();
  for (const std::string& name : config.discarded_passes()) {
    if (!PassManager::Global().Has(name)) PassManager::Global().Create(name);  // throws with the nearest names
    std::erase(passes, name);
  }
  return passes;
}

LoadedModel LoadModel(const CxxConfig& config, const LoadObserver& observer) {
  LoadedModel model;
  const std::vector<std::string> passes = PassesOf(config);
  const std::string& last = config.stop_after();
  WHERRY_ENFORCE(last.empty() || std::find(passes.begin(), passes.end(), last) != passes.end(), kNotFound,
                 "optimisation cannot end after ", Quote(last), ", which is none of the passes to run");
  const Stopwatch import_time;
  model.program = observer.import ? observer.import() : ImportFromConfig(config);
  model.import_ms = import_time.Milliseconds();
  if (observer.imported) observer.imported(model.program);
  if (model.program.optimized) return model;
  OptimizerOptions options;
  options.verify = options.verify || config.verify();
  options.stop_after = config.stop_after();
  ProgramDump dump(config.dump_dir());
  dump.Write("loaded", model.program);
  if (dump.on() || observer.after_pass) {
    options.after_pass = [&](const std::string& pass, int index, const mir::SSAGraph& graph) {
      if (dump.on()) dump.Write(pass, graph.Snapshot());
      if (observer.after_pass) observer.after_pass(pass, index, graph);
    };
  }
  Optimizer optimizer(std::move(options));
  try {
    model.program = optimizer.Run(std::move(model.program), config.valid_places(), {}, passes);
  } catch (...) {
    dump.WriteWeights();  // what is there until the pass that failed can be read
    throw;
  }
  dump.WriteWeights();
  model.report = optimizer.report();
  return model;
}

}  // namespace wherry
