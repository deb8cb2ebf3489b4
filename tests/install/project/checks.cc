#include "checks.h"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "wherry/extend.h"
#include "wherry/predictor.h"

namespace {

int failures = 0;

size_t Count(const std::string& text, const std::string& word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

}  // namespace

void Check(bool ok, const std::string& what) {
  if (!ok) ++failures;
  std::printf("%s: %s\n", ok ? "ok" : "FAILED", what.c_str());
}

int Failures() { return failures; }

void CheckError(wherry::ErrorCode code, const std::string& what, const std::function<void()>& action) {
  try {
    action();
    Check(false, what + " is an Error");
  } catch (const wherry::Error& error) {
    Check(error.code() == code, what + " is an Error: " + error.what());
  }
}

void CheckKernel() {
  const wherry::KernelKey key(wherry::Target::kHost, wherry::DataType::kFloat, wherry::DataLayout::kNCHW);
  const wherry::Kernel* kernel = wherry::KernelFactory::Instance().SelectKernel("gain", key);
  Check(kernel != nullptr && kernel->provider == "example", "the kernel is selected");
}

void CheckPass() {
  wherry::Program program = wherry::ParseProgram(
      "block main(%x : f32[N,2]) -> (%y) {\n"
      "  %a = gain(x: %x) {factor = 3}\n"
      "  %y = gain(x: %a) {factor = 0.5}\n"
      "}\n");
  wherry::Optimizer optimizer;
  const wherry::Program fused = optimizer.Run(std::move(program), {}, {}, {"gain_pair_fuse_pass"});
  Check(fused.main().ops.size() == 1 && fused.main().ops[0].GetAttr<float>("factor") == 1.5F,
        "the pass makes one operator of two: " + wherry::PrintProgram(fused));
  Check(optimizer.report().passes.size() == 1 && optimizer.report().passes[0].changed, "the report says so");
}

void CheckPredictor(const std::string& model, const std::string& optimized) {
  wherry::CxxConfig config;
  config.set_model_file(model);
  for (const bool with_pass : {false, true}) {
    if (with_pass) {
      std::vector<std::string> passes = wherry::DefaultPipeline();
      passes.insert(passes.begin(), "gain_pair_fuse_pass");
      config.set_passes_internal(passes);
    }
    const auto predictor = wherry::CreatePaddlePredictor(config);
    predictor->SetProfiling(true);
    const auto input = predictor->GetInput(0);
    input->Resize({1, 2});
    input->mutable_data<float>()[0] = 1;
    input->mutable_data<float>()[1] = -2;
    predictor->Run();
    const auto output = predictor->GetOutput(0);
    Check(output->data<float>()[0] == 6 && output->data<float>()[1] == 0, "the predictor's result");
    const auto& steps = predictor->Profile();
    const auto is_ours = [](const wherry::ProfileEvent& event) { return event.kernel.find("example:gain") == 0; };
    Check(std::count_if(steps.begin(), steps.end(), is_ours) == (with_pass ? 1 : 2),
          with_pass ? "with the pass the kernel runs once" : "without the pass the kernel runs twice");
    Check(Count(predictor->ProgramText(), " gain(") == (with_pass ? 1 : 2), predictor->ProgramText());
    if (with_pass) predictor->SaveOptimizedModel(optimized);
  }
}
