// LightPredictor: runs a program that was optimised before. CxxPredictor (cxx_predictor.cc) makes the program and then
// is one of these.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/session.h"
#include "wherry/predictor.h"

namespace wherry {

// What a predictor and its clones share, beside the executable.
struct PredictorOrigin {
  LoadTimes times;
  // The optimiser's report as text, and its summary, which are long to write; null when nothing was optimised.
  std::function<std::string()> report;
  std::function<std::string()> summary;
  std::map<std::string, std::string> watched;  // values kept for GetTensor, by what the program calls them
  // Writes the program as .wry; null: not possible here.
  std::function<void(const Program& program, const std::string& path)> save;
};

// For a number of threads as a config has it. Null: the calling thread alone.
std::shared_ptr<ThreadPool> MakePool(int threads);

class LightPredictor : public PaddlePredictor {
 public:
  // Plans at once when all input dimensions are known. `load` is what the load was spent on until then.
  LightPredictor(std::shared_ptr<const Executable> executable, std::shared_ptr<const PredictorOrigin> origin,
                 const ConfigBase& config, std::vector<ProfileEvent> load = {});

  std::unique_ptr<Tensor> GetInput(int i) override;
  std::unique_ptr<Tensor> GetInputByName(const std::string& name) override;
  std::unique_ptr<const Tensor> GetOutput(int i) const override;
  std::unique_ptr<const Tensor> GetOutputByName(const std::string& name) const override;
  std::unique_ptr<const Tensor> GetTensor(const std::string& name) const override;
  const std::vector<ValueInfo>& Inputs() const override { return input_infos_; }
  const std::vector<ValueInfo>& Outputs() const override { return output_infos_; }
  std::vector<std::string> GetInputNames() const override;
  std::vector<std::string> GetOutputNames() const override;
  void Run() override;
  void Cancel() override { session_.Cancel(); }
  std::shared_ptr<PaddlePredictor> Clone() const override;
  void Trim() override;
  void SaveOptimizedModel(const std::string& path, bool packed_weights) const override;
  std::string RequiredKernels() const override;
  void SetProfiling(bool on) override { session_.set_profiling(on); }
  const std::vector<ProfileEvent>& Profile() const override;
  const std::vector<ProfileEvent>& LoadProfile() const override { return load_profile_; }
  size_t ActivationBytes() const override { return session_.activation_bytes(); }
  size_t WeightBytes() const override { return executable_->weight_bytes() + executable_->packs().bytes(); }
  std::string ProgramText() const override;
  std::string OptimizeReportText() const override;
  std::string OptimizeSummaryText() const override { return origin_->summary ? origin_->summary() : ""; }
  const std::map<std::string, std::string>& Metadata() const override { return executable_->program().metadata; }
  const LoadTimes& GetLoadTimes() const override { return origin_->times; }

 private:
  std::shared_ptr<const Executable> executable_;
  std::shared_ptr<const PredictorOrigin> origin_;
  ConfigBase config_;
  Session session_;
  std::vector<ValueInfo> input_infos_;
  std::vector<ValueInfo> output_infos_;
  std::vector<std::shared_ptr<DenseTensor>> inputs_;
  std::vector<const DenseTensor*> input_pointers_;
  std::vector<std::shared_ptr<DenseTensor>> outputs_;
  std::vector<ProfileEvent> load_profile_;
  mutable std::vector<ProfileEvent> profile_;
};

}  // namespace wherry
