#include "model_options.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "npz.h"
#include "text.h"
#include "wherry/program.h"
#include "wherry/text.h"

namespace wherry::tools {

namespace {

Place PlaceOf(const std::string& text) {
  try {
    return ParsePlace(text);
  } catch (Error& error) {
    error.AddContext("reading '" + Printable(text) + "' of --places, TARGET[:TYPE[:LAYOUT]]; see wherry list places");
    throw;
  }
}

// Without a provider for it, a place would quietly mean the host. Any and host stand for the host.
void CheckAvailable(const Place& place) {
  if (place.target() == Target::kAny || place.target() == Target::kHost) return;
  const std::string target = ToString(place.target());
  std::string why = "this build has no provider for it";
  std::string available;
  std::set<std::string> seen;
  for (const PlaceInfo& info : ListPlaces()) {
    if (info.target == target && info.available) return;
    if (info.target == target) why = info.why;
    if (info.available && seen.insert(info.target).second) available += (available.empty() ? "" : ", ") + info.target;
  }
  throw Error(ErrorCode::kUnavailable, "place '" + target + "': " + why + "; available: " + available);
}

std::map<std::string, Tensor> MadeUp(const ModelOptions& options, const PaddlePredictor& predictor) {
  try {
    return RandomInputs(options.Config(), options.Shapes());
  } catch (Error& error) {
    std::string names;
    for (const std::string& name : predictor.GetInputNames())
      names += (names.empty() ? "'" : ", '") + Printable(name, 100) + "'";
    error.AddContext("making random inputs, see --shape and --inputs: " + Printable(names));
    throw;
  }
}

}  // namespace

void ModelOptions::AddModel(CLI::App* app) {
  app->add_option("MODEL", model, "an .onnx file, a Paddle model (folder, .pdmodel or .json) or a .wry file")
      ->required();
  app->add_option("--params", params, "the parameter file, when it does not lie beside the model");
}

void ModelOptions::AddInputs(CLI::App* app) {
  CLI::Option* file =
      app->add_option("--inputs", inputs, "an .npz file with one array per input; random data without it");
  app->add_option("--shape", shapes, "the shape of an input for random data, as x:1x3x48x320; may be repeated")
      ->excludes(file);
  app->add_flag("--fix-shapes", fix_shapes,
                "fixes the inputs' dimensions to those of --shape or --inputs before the passes run");
}

void ModelOptions::AddRun(CLI::App* app) {
  app->add_option("--threads", threads, "threads that work on a run; 0: as many as affinity and quota allow")
      ->check(CLI::Range(0, 1024));
  app->add_option(
      "--places", places,
      "valid places in order of preference, with commas: TARGET[:TYPE[:LAYOUT]], as x86 or opencl,x86; x86:fp16, "
      "x86:bf16 or x86:int8 after x86 stores products' weights in that type");
  app->add_option("--passes", passes,
                  "exactly these passes, with commas, instead of the default pipeline; none: no pass");
  app->add_flag("--verify", verify, "check the graph after every pass");
}

CxxConfig ModelOptions::Config() const {
  if (!params.empty() && (model.ends_with(".onnx") || model.ends_with(".wry") || model.ends_with(".wir")))
    throw Error(ErrorCode::kInvalidArgument, "--params: '" + model + "' is of a format that has no parameter file");
  CxxConfig config;
  config.set_model_dir(model);
  config.set_param_file(params);
  config.set_threads(threads);
  config.set_verify(verify);
  std::vector<Place> list;
  for (const std::string& place : Split(places, ',')) {
    list.push_back(PlaceOf(place));
    CheckAvailable(list.back());
  }
  config.set_valid_places(list);
  config.set_passes_internal(Split(passes, ','));
  if (!inputs.empty()) config.set_overridden_inputs(NamesInNpz(inputs));
  if (fix_shapes) {
    if (inputs.empty() && shapes.empty())
      throw Error(ErrorCode::kInvalidArgument, "--fix-shapes: which shapes? Give --shape or --inputs");
    config.set_input_shapes(GivenShapes());
  }
  return config;
}

std::map<std::string, Shape> ModelOptions::Shapes() const {
  std::map<std::string, Shape> result;
  for (const std::string& text : shapes) {
    const size_t colon = text.rfind(':');
    const auto fail = [&text](const std::string& why) {
      throw Error(ErrorCode::kInvalidArgument, "--shape '" + text + "': " + why + " (expected NAME:1x3x48x320)");
    };
    if (colon == std::string::npos) fail("no colon");
    Shape shape;
    for (const std::string& item : Split(text.substr(colon + 1), 'x')) {
      const std::optional<int64_t> dim = ParseInt(item);
      if (!dim || *dim < 0) fail("'" + item + "' is no dimension");
      shape.push_back(*dim);
    }
    const std::string name = text.substr(0, colon);
    if (!result.emplace(name, shape).second) fail("the shape of '" + Printable(name) + "' is given twice");
  }
  return result;
}

std::map<std::string, Shape> ModelOptions::GivenShapes() const {
  std::map<std::string, Shape> result = Shapes();
  if (inputs.empty()) return result;
  for (const auto& [name, tensor] : ReadNpz(inputs)) result.emplace(name, tensor.shape());
  return result;
}

std::map<std::string, Tensor> ModelOptions::Inputs(const PaddlePredictor& predictor) const {
  if (inputs.empty()) return MadeUp(*this, predictor);
  const std::vector<std::string> names = predictor.GetInputNames();
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "'" : ", '") + name + "'";
  std::map<std::string, Tensor> arrays = ReadNpz(inputs);
  for (const auto& [name, tensor] : arrays) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw Error(ErrorCode::kNotFound,
                  "'" + inputs + "' has an array '" + name + "', which is no input of the model; inputs are " + list);
    }
  }
  for (const std::string& name : names) {
    if (arrays.count(name) == 0) {
      throw Error(ErrorCode::kNotFound, "'" + inputs + "' has no array for input '" + name + "'; inputs are " + list);
    }
  }
  return arrays;
}

void SetInputs(PaddlePredictor* predictor, const std::map<std::string, Tensor>& inputs) {
  for (const auto& [name, tensor] : inputs) {
    auto input = predictor->GetInputByName(name);
    input->Resize(tensor.shape());
    // The tensors outlive the run: the caller keeps the map.
    input->ShareExternalMemory(const_cast<void*>(tensor.raw_data()), tensor.nbytes(), tensor.dtype());
  }
}

CLI::Validator Number(double least, double most) {
  return CLI::Validator(
      [least, most](const std::string& text) {
        double value = 0;
        const bool fits = CLI::detail::lexical_cast(text, value) && value >= least && value <= most;
        return fits ? std::string()
                    : "'" + text + "' is no number from " + CLI::detail::to_string(least) + " to " +
                          CLI::detail::to_string(most);
      },
      "NUMBER");
}

void RefuseEmpty(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    const std::vector<std::string>& given = option->results();
    if (!given.empty() && given.back().empty())
      throw Error(ErrorCode::kInvalidArgument, "what " + option->get_name() + " gives is empty");
  }
}

std::string Describe(const std::map<std::string, Tensor>& inputs) {
  constexpr size_t kMost = 8;
  std::string text;
  size_t count = 0;
  for (const auto& [name, tensor] : inputs) {
    if (++count > kMost) return text + ", ... (" + std::to_string(inputs.size()) + " inputs)";
    text +=
        (text.empty() ? "" : ", ") + Printable(name) + " " + ToString(tensor.dtype()) + tensor.shape().DebugString();
  }
  return text;
}

void FirstRun(PaddlePredictor* predictor, const ModelOptions& options, const std::map<std::string, Tensor>& inputs) {
  try {
    predictor->Run();
  } catch (Error& error) {
    // What a file's bytes are is no matter of inputs.
    if (!options.inputs.empty() || error.code() == ErrorCode::kCorrupt) throw;
    error.AddContext("running on random inputs, see --shape and --inputs: " + Describe(inputs));
    throw;
  }
}

}  // namespace wherry::tools
