#include "predictor/cxx_load.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/check.h"
#include "base/mapped_file.h"
#include "base/stopwatch.h"
#include "base/strings.h"
#include "base/system_error.h"
#include "format/wry.h"
#include "importer/importer.h"
#include "ir/text.h"
#include "pass/pass_manager.h"

namespace wherry {

namespace {

FileBytes Borrow(const std::string& name, const CxxConfig::Bytes& bytes) {
  return FileBytes{name, {static_cast<const std::byte*>(bytes.data), bytes.size}, nullptr};
}

FileBytes Own(const std::string& name, std::string content) {
  auto owner = std::make_shared<const std::string>(std::move(content));
  return FileBytes{name, {reinterpret_cast<const std::byte*>(owner->data()), owner->size()}, owner};
}

void Dump(const std::string& dir, int number, const std::string& pass, const Program& program) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) ThrowSystemError(error.value(), "cannot make the folder " + Quote(dir, 1000));
  char prefix[16];
  std::snprintf(prefix, sizeof(prefix), "%03d_", number);
  PrintOptions options;
  options.exact_weights = false;
  const std::string text = PrintProgram(program, options);
  AtomicFile file(dir + "/" + prefix + pass + ".wir");
  file.Write(text);
  file.Commit();
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

LoadedModel LoadModel(const CxxConfig& config,
                      std::function<void(const std::string&, int, const mir::SSAGraph&)> after_pass,
                      const std::function<Program()>& import) {
  LoadedModel model;
  const std::vector<std::string> passes = PassesOf(config);
  const std::string& last = config.stop_after();
  WHERRY_ENFORCE(last.empty() || std::find(passes.begin(), passes.end(), last) != passes.end(), kNotFound,
                 "optimisation cannot end after ", Quote(last), ", which is none of the passes to run");
  const Stopwatch import_time;
  model.program = import ? import() : ImportFromConfig(config);
  model.import_ms = import_time.Milliseconds();
  if (model.program.optimized) return model;
  OptimizerOptions options;
  options.verify = options.verify || config.verify();
  options.stop_after = config.stop_after();
  int number = 0;
  if (!config.dump_dir().empty()) Dump(config.dump_dir(), number++, "loaded", model.program);
  options.after_pass = [&](const std::string& pass, int index, const mir::SSAGraph& graph) {
    if (!config.dump_dir().empty()) Dump(config.dump_dir(), number++, pass, graph.Snapshot());
    if (after_pass) after_pass(pass, index, graph);
  };
  if (config.dump_dir().empty() && !after_pass) options.after_pass = nullptr;
  Optimizer optimizer(std::move(options));
  model.program = optimizer.Run(std::move(model.program), config.valid_places(), {}, passes);
  model.report = optimizer.report();
  return model;
}

}  // namespace wherry
