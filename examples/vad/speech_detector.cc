#include "speech_detector.h"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

namespace vad {

SpeechDetector::SpeechDetector(const std::string& model, int rate)
    : window_(rate == 16000 ? 512 : 256), context_(window_ / 8, 0.0F) {
  if (rate != 8000 && rate != 16000)
    throw std::runtime_error("the network knows 8000 and 16000 samples a second, not " + std::to_string(rate));
  wherry::CxxConfig config;
  config.set_model_file(model);
  config.set_threads(1);
  predictor_ = wherry::CreatePaddlePredictor(config);
  if (predictor_->GetInputNames() != std::vector<std::string>{"input", "state", "sr"})
    throw std::runtime_error("'" + model + "' is not silero-vad: its inputs are not input, state and sr");

  input_ = predictor_->GetInputByName("input");
  input_->Resize({1, static_cast<int64_t>(context_.size() + window_)});
  state_ = predictor_->GetInputByName("state");
  state_->Resize({2, 1, 128});
  std::fill_n(state_->mutable_data<float>(), state_->numel(), 0.0F);
  const auto sr = predictor_->GetInputByName("sr");
  sr->Resize(wherry::Shape());
  *sr->mutable_data<int64_t>() = rate;
}

float SpeechDetector::Probability(const float* samples) {
  float* const in = input_->mutable_data<float>();
  std::copy(context_.begin(), context_.end(), in);
  std::copy_n(samples, window_, in + context_.size());
  std::copy_n(samples + window_ - context_.size(), context_.size(), context_.begin());
  predictor_->Run();
  state_->CopyFromCpu(predictor_->GetOutputByName("stateN")->data<float>());
  return *predictor_->GetOutputByName("output")->data<float>();
}

}  // namespace vad
