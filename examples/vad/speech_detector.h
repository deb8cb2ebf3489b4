// The network: silero-vad looks at 32 ms at a time and carries a state from call to call.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "wherry/predictor.h"

namespace vad {

class SpeechDetector {
 public:
  // `rate`: 8000 or 16000 samples a second. Throws wherry::Error, or std::runtime_error for another rate or network.
  SpeechDetector(const std::string& model, int rate);

  // Samples that each call looks at.
  size_t window() const { return window_; }
  // How likely it is that somebody speaks in the next window() samples.
  float Probability(const float* samples);

 private:
  std::shared_ptr<wherry::PaddlePredictor> predictor_;
  std::unique_ptr<wherry::Tensor> input_;
  std::unique_ptr<wherry::Tensor> state_;
  size_t window_;
  std::vector<float> context_;  // the last samples of the window before, which the network sees again
};

}  // namespace vad
