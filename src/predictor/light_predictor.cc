#include "predictor/light_predictor.h"

#include <malloc.h>

#include <algorithm>

#include "base/check.h"
#include "base/strings.h"
#include "ir/text.h"
#include "predictor/profile.h"
#include "runtime/required_kernels.h"

namespace wherry {

namespace {

ValueInfo InfoOf(const std::string& name, const MetaTensor& type) {
  ValueInfo info;
  info.name = name;
  info.dtype = type.dtype;
  info.rank_known = type.rank_known;
  if (!type.rank_known) return info;
  for (const Dim& dim : type.dims) {
    info.dims.push_back(dim.known() ? InputDim{dim.value(), ""} : InputDim{-1, dim.DebugString()});
  }
  return info;
}

size_t FindName(const std::vector<ValueInfo>& infos, const std::string& name, const char* what) {
  std::vector<std::string> names;
  for (size_t i = 0; i < infos.size(); ++i) {
    if (infos[i].name == name) return i;
    names.push_back(infos[i].name);
  }
  Throw(ErrorCode::kNotFound, "there is no ", what, " named ", Quote(name), "; the model has ", Join(names, ", "));
}

}  // namespace

std::shared_ptr<ThreadPool> MakePool(int threads) {
  const int count = threads > 0 ? threads : ThreadPool::DefaultThreads();
  return count > 1 ? std::make_shared<ThreadPool>(count) : nullptr;  // one thread means no pool
}

LightPredictor::LightPredictor(std::shared_ptr<const Executable> executable,
                               std::shared_ptr<const PredictorOrigin> origin, const ConfigBase& config,
                               std::vector<ProfileEvent> load)
    : executable_(std::move(executable)),
      origin_(std::move(origin)),
      config_(config),
      session_(executable_, MakePool(config.threads()), config.memory_limit()) {
  load_profile_ = std::move(load);
  session_.set_numeric_check(config.numeric_check());
  if (config.observer()) {
    session_.set_observer(
        [observer = config.observer()](const Instruction& op, const std::string& name, const DenseTensor& value) {
          observer(op.schema->name, name, Tensor(std::make_shared<DenseTensor>(value)));
        });
  }
  const Block& block = executable_->program().main();
  std::vector<TensorMeta> metas;
  bool known = true;
  for (size_t i = 0; i < block.inputs.size(); ++i) {
    const MetaTensor& type = executable_->InputType(i);
    input_infos_.push_back(InfoOf(block.inputs[i], type));
    inputs_.push_back(std::make_shared<DenseTensor>());
    known = known && type.known() && type.dtype != DataType::kUndefined;
    if (known) metas.push_back(type.tensor_meta());
    if (type.known()) inputs_.back()->set_meta(type.tensor_meta());
  }
  const std::vector<std::string>& names = executable_->main().output_names;
  for (size_t i = 0; i < names.size(); ++i) output_infos_.push_back(InfoOf(names[i], executable_->OutputType(i)));
  outputs_.resize(names.size());
  if (!known) return;
  session_.Prepare(metas);
  const double start = load_profile_.empty() ? 0 : load_profile_.back().start_us + load_profile_.back().duration_us;
  for (ProfileEvent& event : MakeProfile(session_.steps())) {
    event.category = "load";
    event.start_us += start;
    load_profile_.push_back(std::move(event));
  }
}

std::unique_ptr<Tensor> LightPredictor::GetInput(int i) {
  WHERRY_ENFORCE(i >= 0 && i < static_cast<int>(inputs_.size()), kOutOfRange, "there is no input ", i,
                 ", the model has ", inputs_.size());
  return std::make_unique<Tensor>(inputs_[static_cast<size_t>(i)]);
}

std::unique_ptr<Tensor> LightPredictor::GetInputByName(const std::string& name) {
  return GetInput(static_cast<int>(FindName(input_infos_, name, "input")));
}

std::unique_ptr<const Tensor> LightPredictor::GetOutput(int i) const {
  WHERRY_ENFORCE(i >= 0 && i < static_cast<int>(outputs_.size()), kOutOfRange, "there is no output ", i,
                 ", the model has ", outputs_.size());
  return std::make_unique<const Tensor>(outputs_[static_cast<size_t>(i)]);
}

std::unique_ptr<const Tensor> LightPredictor::GetOutputByName(const std::string& name) const {
  return GetOutput(static_cast<int>(FindName(output_infos_, name, "output")));
}

std::unique_ptr<const Tensor> LightPredictor::GetTensor(const std::string& name) const {
  for (size_t i = 0; i < output_infos_.size(); ++i) {
    if (output_infos_[i].name == name) return GetOutput(static_cast<int>(i));
  }
  const auto watched = origin_->watched.find(name);
  WHERRY_ENFORCE(watched != origin_->watched.end(), kNotFound, "value ", Quote(name),
                 " is neither an output nor watched (CxxConfig::set_watched_values)");
  const std::string& called = watched->second;
  const std::vector<std::string>& inputs = executable_->program().main().inputs;
  const auto input = std::find(inputs.begin(), inputs.end(), called);
  if (input != inputs.end())
    return std::make_unique<const Tensor>(inputs_[static_cast<size_t>(input - inputs.begin())]);
  const auto weight = executable_->program().weights.find(called);
  if (weight != executable_->program().weights.end()) {
    return std::make_unique<const Tensor>(std::make_shared<DenseTensor>(weight->second));
  }
  std::shared_ptr<DenseTensor> value = session_.Value(called);
  WHERRY_ENFORCE(value != nullptr, kNotFound, "value ", Quote(name), " is not there: no run has made it yet");
  return std::make_unique<const Tensor>(std::move(value));
}

std::vector<std::string> LightPredictor::GetInputNames() const {
  std::vector<std::string> names;
  for (const ValueInfo& info : input_infos_) names.push_back(info.name);
  return names;
}

std::vector<std::string> LightPredictor::GetOutputNames() const { return executable_->main().output_names; }

void LightPredictor::Run() {
  input_pointers_.clear();
  for (const std::shared_ptr<DenseTensor>& input : inputs_) input_pointers_.push_back(input.get());
  session_.Run(input_pointers_, &outputs_);
}

std::shared_ptr<PaddlePredictor> LightPredictor::Clone() const {
  return std::make_shared<LightPredictor>(executable_, origin_, config_);
}

void LightPredictor::Trim() {
  std::fill(outputs_.begin(), outputs_.end(), nullptr);
  session_.Trim();
#ifdef __GLIBC__
  malloc_trim(0);  // what was freed stays with the process otherwise
#endif
}

void LightPredictor::SaveOptimizedModel(const std::string& path, bool packed_weights) const {
  WHERRY_ENFORCE(origin_->save != nullptr, kUnsupported,
                 "this predictor was loaded from an optimised model and cannot save one");
  if (!packed_weights) return origin_->save(executable_->program(), path);
  Program program = executable_->program().Clone();
  for (const auto& [name, weight] : program.weights) {
    std::vector<PackedWeight> forms = executable_->packs().FormsOf(weight);
    if (!forms.empty()) program.packed.emplace(name, std::move(forms));
  }
  origin_->save(program, path);
}

std::string LightPredictor::RequiredKernels() const { return wherry::RequiredKernels(*executable_); }

const std::vector<ProfileEvent>& LightPredictor::Profile() const {
  profile_ = MakeProfile(session_.steps());
  return profile_;
}

std::string LightPredictor::ProgramText() const {
  PrintOptions options;
  options.exact_weights = false;
  return PrintProgram(executable_->program(), options);
}

std::string LightPredictor::OptimizeReportText() const {
  std::string text = origin_->report ? origin_->report() : "";
  for (const std::string& note : executable_->notes()) text += note + "\n";
  return text;
}

std::string PaddlePredictor::GetVersion() { return WHERRY_VERSION; }

}  // namespace wherry
