// PaddlePredictor: a loaded network, ready to run.
//
//   wherry::CxxConfig config;
//   config.set_model_dir("model.onnx");
//   auto predictor = wherry::CreatePaddlePredictor(config);
//   auto input = predictor->GetInput(0);
//   input->Resize({1, 3, 224, 224});
//   float* data = input->mutable_data<float>();   // fill it
//   predictor->Run();
//   auto output = predictor->GetOutput(0);         // output->shape(), output->data<float>()
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "wherry/config.h"
#include "wherry/tensor.h"

namespace wherry {

// A dimension as the model declares it: known, or a name for what is decided at run time.
struct InputDim {
  int64_t value = -1;  // -1: dynamic
  std::string symbol;  // its name or expression when dynamic
};
struct ValueInfo {
  std::string name;
  DataType dtype = DataType::kUndefined;
  bool rank_known = true;
  std::vector<InputDim> dims;
};

// One step of a profiled run, or of a load.
struct ProfileEvent {
  // "op": a statement of the program. "runtime": what Wherry does around them in a run, `op` says what: "check inputs",
  // "find plan", "plan" and "pack weights" (for a new shape), "bind memory", "collect outputs". "load": a part of a
  // load: "import", "optimize", the passes in it by their names, "bind kernels"; then "plan", "pack weights" and
  // "bind memory" if the shapes are known before the first run.
  std::string category;
  std::string name;     // the op's label or result
  std::string op;       // its type
  std::string kernel;   // "cpu:conv2d:winograd4"
  std::string shapes;   // "f32[1,3,48,192], f32[16,3,3,3] -> f32[1,16,24,96]"
  double start_us = 0;  // since the run, or the load, began
  double duration_us = 0;
  int depth = 0;            // events that it is a part of: those within control flow, passes within "optimize"
  double flops = 0;         // operations, a multiply-add counts as two; 0 for what only moves elements or is unknown
  double bytes = 0;         // read and written
  std::string family;       // of kernels, which go at one rate: "product", "winograd", "movement"; may be empty
  double estimated_us = 0;  // by the family's rates
};

// Where most of the time between a config and a predictor went, in milliseconds.
struct LoadTimes {
  double import_ms = 0;    // reading the file into a program
  double optimize_ms = 0;  // the passes; 0 for a file that was optimised before
};

// One predictor is used by one thread at a time; Clone() for more. All methods throw Error; what a caller's own
// callback throws passes through.
class PaddlePredictor {
 public:
  virtual ~PaddlePredictor() = default;

  // A handle on an input: resize it, fill it, Run. The data stays between runs. The type must be the model's.
  virtual std::unique_ptr<Tensor> GetInput(int i) = 0;
  virtual std::unique_ptr<Tensor> GetInputByName(const std::string& name) = 0;
  // The result of the last run; undefined after a run that failed. It stays valid and unchanged as long as a handle on
  // it is held, whatever runs later.
  virtual std::unique_ptr<const Tensor> GetOutput(int i) const = 0;
  virtual std::unique_ptr<const Tensor> GetOutputByName(const std::string& name) const = 0;
  // A watched value (CxxConfig::set_watched_values) or an output.
  virtual std::unique_ptr<const Tensor> GetTensor(const std::string& name) const = 0;

  virtual const std::vector<ValueInfo>& Inputs() const = 0;
  virtual const std::vector<ValueInfo>& Outputs() const = 0;
  virtual std::vector<std::string> GetInputNames() const = 0;
  virtual std::vector<std::string> GetOutputNames() const = 0;

  // Reads the inputs, writes the outputs. On a shape seen before nothing is allocated.
  virtual void Run() = 0;
  // Ends the run in progress in another thread before its next op, or the next part of one whose work is shared out,
  // with Error(kCancelled); no effect when none runs.
  virtual void Cancel() = 0;

  // Another predictor on the same weights and program, for another thread; any shapes.
  virtual std::shared_ptr<PaddlePredictor> Clone() const = 0;
  // Gives memory back that the last shapes needed; the next run allocates again.
  virtual void Trim() = 0;
  bool TryShrinkMemory() {  // Paddle-Lite's name
    Trim();
    return true;
  }

  // The optimised model as a .wry file, complete or not at all. With `packed_weights` also the weights as the kernels
  // of the shapes planned so far read them: the file is larger, and such a predictor is ready at once.
  // Error(kUnsupported) for a light predictor.
  virtual void SaveOptimizedModel(const std::string& path, bool packed_weights) const = 0;
  void SaveOptimizedModel(const std::string& path) const { SaveOptimizedModel(path, false); }

  // The operators and kernels that a slim build of the light library needs for this model (docs/slim_build.md).
  virtual std::string RequiredKernels() const = 0;

  // Records the next runs' steps; off by default and free when off.
  virtual void SetProfiling(bool on) = 0;
  // Of the last such run, by start: every statement that ran, and Wherry's own work around them. Those of depth 0 add
  // up to the run but for the clock's own time.
  virtual const std::vector<ProfileEvent>& Profile() const = 0;
  // What making this predictor spent its time on; always there. A clone has its own plan only.
  virtual const std::vector<ProfileEvent>& LoadProfile() const = 0;
  // Bytes now held for activations, results and scratch, and for weights (mapped and packed).
  virtual size_t ActivationBytes() const = 0;
  virtual size_t WeightBytes() const = 0;

  // What was loaded and why it runs as it does: the optimised program in text form, and the optimiser's report, whole
  // and as a line or two (both empty where nothing was optimised, as for a light one).
  virtual std::string ProgramText() const = 0;
  virtual std::string OptimizeReportText() const = 0;
  virtual std::string OptimizeSummaryText() const = 0;
  // What the file says about the model: "format" ("onnx", "paddle", ...), "producer", "opset", "optional_inputs"
  // (CxxConfig::set_overridden_inputs), and the model's own properties (ONNX's metadata_props) as "model.NAME". A .wry
  // file keeps them.
  virtual const std::map<std::string, std::string>& Metadata() const = 0;
  virtual const LoadTimes& GetLoadTimes() const = 0;

  static std::string GetVersion();
};

// Loads, optimises, packs and plans. CxxConfig needs the full library, MobileConfig the full or the light one.
std::shared_ptr<PaddlePredictor> CreatePaddlePredictor(const CxxConfig& config);
std::shared_ptr<PaddlePredictor> CreatePaddlePredictor(const MobileConfig& config);

}  // namespace wherry
