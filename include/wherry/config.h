// Configurations: what to load and how to run it. Plain values: no setter acts on anything but the object, and one
// config may make many predictors. Names follow Paddle-Lite.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "wherry/types.h"

namespace wherry {

// Reads a named part of a model (its main file, parameters, external data) into memory. Error(kNotFound) when there is
// none.
using ModelReader = std::function<std::string(const std::string& name)>;

class Tensor;

// A value that an op of the optimised program gave: the op's type, the value's name, and its tensor, which is valid
// during the call only.
using ValueObserver = std::function<void(const std::string& op, const std::string& value, const Tensor& tensor)>;

class ConfigBase {
 public:
  // Threads that work on one run, the caller included. 0 (default): as many as the process's affinity and cgroup quota
  // allow.
  void set_threads(int threads) { threads_ = threads; }
  int threads() const { return threads_; }
  // Upper bound on the memory, of host and devices, that one predictor uses for activations, results (those that
  // somebody holds included) and scratch; a run that needs more is Error(kResourceExhausted) that names the value. 0
  // (default): none.
  void set_memory_limit(size_t bytes) { memory_limit_ = bytes; }
  size_t memory_limit() const { return memory_limit_; }
  // For finding faults; off by default. With the check, a run ends with an Error at the first op that makes a NaN or an
  // infinity of finite numbers; it names the op, the value and its arguments' ranges. The observer is called with each
  // value in the order in which they are made, in control flow once per iteration, by the thread that runs; what it
  // throws ends the run. Without passes the values are the model's own.
  void set_numeric_check(bool on) { numeric_check_ = on; }
  bool numeric_check() const { return numeric_check_; }
  void set_observer(ValueObserver observer) { observer_ = std::move(observer); }
  const ValueObserver& observer() const { return observer_; }

 private:
  int threads_ = 0;
  size_t memory_limit_ = 0;
  bool numeric_check_ = false;
  ValueObserver observer_;
};

// How kernels are measured while a model is optimised.
struct TuningOptions {
  // The file that keeps times from one load to the next, on this machine and for this version; missing: it is made.
  // Several processes may use one. Empty: times are not kept.
  std::string cache_file;
  // Of inputs with dynamic dimensions; others are taken as RandomInputs (wherry/program.h) takes them. Layouts are
  // fixed for what is measured here; other shapes run with them.
  std::map<std::string, Shape> shapes;
};

// For a model in a foreign format (ONNX, Paddle) or a .wry file, which is then not optimised again.
class CxxConfig : public ConfigBase {
 public:
  // A file (.onnx, .pdmodel, .json, .wry) or a folder with a Paddle model.
  void set_model_dir(const std::string& path) { model_path_ = path; }
  void set_model_file(const std::string& path) { model_path_ = path; }
  // When the parameters do not lie beside the model.
  void set_param_file(const std::string& path) { param_path_ = path; }
  // A model in memory. The bytes are not copied: they must stay until the last predictor made from it is gone.
  void set_model_buffer(const void* model, size_t model_size, const void* params = nullptr, size_t params_size = 0) {
    model_buffer_ = {model, model_size};
    params_buffer_ = {params, params_size};
  }
  // A model behind a reader: `name` is its main file, other parts are asked for by their names in the model.
  void set_model_reader(const std::string& name, ModelReader reader) {
    model_path_ = name;
    reader_ = std::move(reader);
  }

  // Where kernels may run, in order of preference. Default: the machine's own processor, f32. Operators compute in the
  // model's types; a precision of f16, bf16 or i8 on the host asks for the weights of products in it, another than f32
  // changes nothing and is warned of.
  void set_valid_places(const std::vector<Place>& places) { valid_places_ = places; }
  void set_valid_places(const Place& place) { valid_places_ = {place}; }
  // Exactly these passes instead of the default pipeline; {"none"}: no optimisation at all.
  void set_passes_internal(const std::vector<std::string>& passes) { passes_ = passes; }
  // Leaves a pass out of the default pipeline. An unknown name is an error when the predictor is made.
  void add_discarded_pass(const std::string& name) { discarded_passes_.push_back(name); }
  // Times each op's kernels on this machine while the model is loaded, with the predictor's threads, and picks kernels
  // and layouts by that instead of by estimates. Takes seconds where the cache does not know the times; best done once,
  // and the model stored. Off by default. The passes must have static_kernel_pick_pass, else it is Error(kNotFound).
  void set_tuning(const TuningOptions& tuning) { tuning_ = tuning; }
  const std::optional<TuningOptions>& tuning() const { return tuning_; }
  // Ends optimisation after this pass.
  void set_stop_after(const std::string& pass) { stop_after_ = pass; }
  // Writes the program before optimisation and after every pass that changed it to DIR/NNN_pass.wir.
  void set_dump_dir(const std::string& dir) { dump_dir_ = dir; }
  // Checks the graph's invariants after every pass.
  void set_verify(bool verify) { verify_ = verify; }
  // Inputs for which the file has a value (initializers of an ONNX model that are its inputs too) and for which the
  // caller gives one nevertheless: they are inputs as others are. Without this they are constants. Names of anything
  // else have no effect. The metadata "optional_inputs" lists what there is.
  void set_overridden_inputs(const std::vector<std::string>& names) { overridden_inputs_ = names; }
  // Dimensions that the model leaves open, fixed before the passes run, by input: what depends on them is known then,
  // and kernels, layouts and memory are chosen for them when the model is loaded. A dimension of the same name is the
  // same number in the other inputs, which need not be here. Runs on other shapes are errors. Error(kNotFound) for
  // what is no input, Error(kInvalidArgument) for a shape that the model does not allow and for a model that is
  // optimised already.
  void set_input_shapes(const std::map<std::string, Shape>& shapes) { input_shapes_ = shapes; }
  // Keeps the named values readable by GetTensor after a run: no pass fuses them away, and they leave the shared arena.
  // Names of the model's main block; others are Error(kNotFound) when it is loaded.
  void set_watched_values(const std::vector<std::string>& names) { watched_values_ = names; }

  struct Bytes {
    const void* data = nullptr;
    size_t size = 0;
  };
  const std::string& model_path() const { return model_path_; }
  const std::string& param_path() const { return param_path_; }
  const Bytes& model_buffer() const { return model_buffer_; }
  const Bytes& params_buffer() const { return params_buffer_; }
  const ModelReader& reader() const { return reader_; }
  const std::vector<Place>& valid_places() const { return valid_places_; }
  const std::vector<std::string>& passes() const { return passes_; }
  const std::vector<std::string>& discarded_passes() const { return discarded_passes_; }
  const std::string& stop_after() const { return stop_after_; }
  const std::string& dump_dir() const { return dump_dir_; }
  bool verify() const { return verify_; }
  const std::vector<std::string>& overridden_inputs() const { return overridden_inputs_; }
  const std::map<std::string, Shape>& input_shapes() const { return input_shapes_; }
  const std::vector<std::string>& watched_values() const { return watched_values_; }

 private:
  std::string model_path_;
  std::string param_path_;
  Bytes model_buffer_;
  Bytes params_buffer_;
  ModelReader reader_;
  std::vector<Place> valid_places_;
  std::vector<std::string> passes_;
  std::vector<std::string> discarded_passes_;
  std::string stop_after_;
  std::string dump_dir_;
  bool verify_ = false;
  std::vector<std::string> overridden_inputs_;
  std::map<std::string, Shape> input_shapes_;
  std::vector<std::string> watched_values_;
  std::optional<TuningOptions> tuning_;
};

// For a model that was optimised before (.wry). Needs the light library only.
class MobileConfig : public ConfigBase {
 public:
  void set_model_from_file(const std::string& path) { model_path_ = path; }
  // Not copied; must stay until the last predictor made from it is gone.
  void set_model_from_buffer(const void* data, size_t size) {
    data_ = data;
    size_ = size;
  }
  const std::string& model_path() const { return model_path_; }
  const void* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  std::string model_path_;
  const void* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace wherry
