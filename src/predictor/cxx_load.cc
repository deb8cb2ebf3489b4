#include "predictor/cxx_load.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/check.h"
#include "base/log.h"
#include "base/mapped_file.h"
#include "base/stopwatch.h"
#include "base/strings.h"
#include "format/wry.h"
#include "importer/importer.h"
#include "ir/text.h"
#include "kernel/plugin.h"
#include "pass/pass_manager.h"
#include "pass/weight_precision.h"
#include "predictor/cxx_dump.h"
#include "predictor/cxx_input_shapes.h"
#include "predictor/light_predictor.h"
#include "predictor/random_inputs.h"

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
  try {
    return ParseProgram({reinterpret_cast<const char*>(text.data.data()), text.data.size()}, std::move(weights));
  } catch (Error& error) {
    error.AddContext("reading " + Quote(text.name, 1000));
    throw;
  }
}

// What an optimised model cannot follow any more is no error: a service has one config for all its models.
void WarnOfIgnored(const CxxConfig& config) {
  const auto warn = [](const char* what) {
    WHERRY_LOG(kWarning) << what
                         << " mean nothing for this model: it is optimised already, and kernels and layouts are "
                         << "fixed in it";
  };
  if (!config.passes().empty() || !config.discarded_passes().empty()) warn("the passes that the config names");
  if (!config.valid_places().empty()) warn("the valid places that the config names");
}

// An operator computes in the type that the model gives it, whatever the places say. No error: a list of places may be
// one for many machines.
void WarnOfPrecisions(const std::vector<Place>& places) {
  for (const Place& place : places) {
    const DataType precision = place.precision();
    const bool asks_for_nothing =
        precision == DataType::kFloat || precision == DataType::kAny || precision == DataType::kUndefined;
    if (asks_for_nothing || WeightPrecisionOf(place) != DataType::kUndefined) continue;
    WHERRY_LOG(kWarning) << "the precision of the valid place " << place.DebugString()
                         << " changes nothing: f16, bf16 and i8 ask for products' weights in them, on the host";
  }
}

// While passes run, watched values are outputs, which no pass takes away.
class WatchedOutputs {
 public:
  WatchedOutputs(const std::vector<std::string>& names, Program* program) : program_(program), names_(names) {
    std::set<std::string> known(program->main().inputs.begin(), program->main().inputs.end());
    for (const OpDesc& op : program->main().ops) {
      for (const auto& [parameter, results] : op.outputs()) known.insert(results.begin(), results.end());
    }
    for (const std::string& name : names_) {
      if (known.count(name) != 0) continue;
      const auto nearest = NearestNames(name, {known.begin(), known.end()});
      Throw(ErrorCode::kNotFound, "the model has no value ", Quote(name), " to watch",
            nearest.empty() ? "" : "; nearest: " + Join(nearest, ", "));
    }
    Block& block = program->main();
    if (block.output_names.empty()) block.output_names = block.outputs;
    block.outputs.insert(block.outputs.end(), names_.begin(), names_.end());
    block.output_names.insert(block.output_names.end(), names_.begin(), names_.end());
  }

  // They are no outputs from now on.
  std::map<std::string, std::string> Take() {
    std::map<std::string, std::string> values;
    Block& block = program_->main();
    for (auto name = names_.rbegin(); name != names_.rend(); ++name) {
      values[*name] = block.outputs.back();
      block.outputs.pop_back();
      if (!block.output_names.empty()) block.output_names.pop_back();
    }
    return values;
  }

 private:
  Program* program_;
  const std::vector<std::string>& names_;
};

// What measures goes behind what it corrects.
void AddMeasuring(std::vector<std::string>* passes) {
  const auto pick = std::find(passes->begin(), passes->end(), "static_kernel_pick_pass");
  WHERRY_ENFORCE(pick != passes->end(), kNotFound, "tuning needs static_kernel_pick_pass among the passes");
  passes->insert(pick + 1, "measured_kernel_pick_pass");
}

// That times cannot be kept for the next model is no reason not to have this one.
void KeepTimes(KernelTimer* timer) {
  try {
    timer->Save();
  } catch (const Error& error) {
    WHERRY_LOG(kWarning) << "kernel times are not kept: " << error.what();
  }
}

Program Import(const CxxConfig& config, std::vector<std::string>* unsupported) {
  if (config.model_buffer().data != nullptr) {
    FileBytes model = Borrow("model in memory", config.model_buffer());
    if (IsWry(model.data)) return LoadWry(model);
    return ImportModel(std::move(model), Borrow("parameters in memory", config.params_buffer()),
                       config.overridden_inputs(), unsupported);
  }
  if (config.reader() != nullptr) {
    return ImportModel(
        config.model_path(), [&config](const std::string& name) { return Own(name, config.reader()(name)); },
        config.overridden_inputs(), unsupported);
  }
  WHERRY_ENFORCE(!config.model_path().empty(), kInvalidArgument, "the config names no model");
  std::error_code no_folder;  // what is wrong with the path is said when it is opened
  if (!std::filesystem::is_directory(config.model_path(), no_folder)) {
    const FileBytes bytes(config.model_path(), MappedFile::Open(config.model_path()));
    if (IsWry(bytes.data)) return LoadWry(bytes);
    if (config.model_path().ends_with(".wir")) return LoadDump(bytes);
  }
  return ImportModel(config.model_path(), config.param_path(), config.overridden_inputs(), unsupported);
}

}  // namespace

Program ImportFromConfig(const CxxConfig& config, std::vector<std::string>* unsupported) {
  LoadDefaultPlugins();  // whose operators the model may have
  Program program = Import(config, unsupported);
  if (config.input_shapes().empty()) return program;
  WHERRY_ENFORCE(
      !program.optimized, kInvalidArgument,
      "shapes of inputs cannot be fixed in a model that is optimised already: fix them when it is optimised");
  FixInputShapes(config.input_shapes(), &program);
  return program;
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

std::shared_ptr<ThreadPool> PickingPool(const CxxConfig& config) {
  return config.tuning() ? MakePool(config.threads()) : nullptr;
}

LoadedModel LoadModel(const CxxConfig& config, const LoadObserver& observer) {
  LoadedModel model;
  std::vector<std::string> passes = PassesOf(config);
  if (config.tuning()) AddMeasuring(&passes);
  const std::string& last = config.stop_after();
  WHERRY_ENFORCE(last.empty() || std::find(passes.begin(), passes.end(), last) != passes.end(), kNotFound,
                 "optimisation cannot end after ", Quote(last), ", which is none of the passes to run");
  const Stopwatch import_time;
  model.program = observer.import ? observer.import() : ImportFromConfig(config);
  model.import_ms = import_time.Milliseconds();
  if (observer.imported) observer.imported(model.program);
  if (config.tuning()) {
    WHERRY_ENFORCE(!model.program.optimized, kInvalidArgument,
                   "tuning needs a model that is not optimised yet: kernels and layouts are fixed in this one");
    const auto measuring = std::find(passes.begin(), passes.end(), "measured_kernel_pick_pass");
    WHERRY_ENFORCE(std::find(passes.begin(), measuring, last) == measuring, kInvalidArgument, "tuning comes behind ",
                   Quote(last), ", where optimisation is to end");
  }
  WatchedOutputs watched(config.watched_values(), &model.program);
  if (model.program.optimized) {
    WarnOfIgnored(config);
    model.watched = watched.Take();
    return model;
  }
  WarnOfPrecisions(config.valid_places());
  OptimizerOptions options;
  options.verify = options.verify || config.verify();
  options.stop_after = config.stop_after();
  if (config.tuning()) {
    options.context.pool = PickingPool(config);
    options.context.timer = std::make_shared<KernelTimer>(options.context.pool, config.tuning()->cache_file);
    options.context.symbols = InputSymbols(model.program, config.tuning()->shapes);
  }
  const std::shared_ptr<KernelTimer> timer = options.context.timer;
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
  if (timer != nullptr) KeepTimes(timer.get());
  model.report = optimizer.report();
  model.watched = watched.Take();
  return model;
}

}  // namespace wherry
