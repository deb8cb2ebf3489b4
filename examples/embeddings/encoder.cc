#include "encoder.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace embeddings {

Encoder::Encoder(const std::string& model, int threads) {
  wherry::CxxConfig config;
  config.set_model_file(model);
  config.set_threads(threads);
  predictor_ = wherry::CreatePaddlePredictor(config);
  if (predictor_->GetInputNames() != std::vector<std::string>{"input_ids", "attention_mask"})
    throw std::runtime_error("'" + model + "' takes something other than input_ids and attention_mask");
}

std::vector<std::vector<float>> Encoder::Encode(const std::vector<std::vector<int64_t>>& sentences) {
  if (sentences.empty()) return {};
  size_t length = 0;
  for (const auto& tokens : sentences) length = std::max(length, tokens.size());
  const auto ids = predictor_->GetInputByName("input_ids");
  const auto mask = predictor_->GetInputByName("attention_mask");
  for (const auto& input : {ids.get(), mask.get()}) {
    input->Resize({static_cast<int64_t>(sentences.size()), static_cast<int64_t>(length)});
    std::fill_n(input->mutable_data<int64_t>(), input->numel(), 0);
  }
  for (size_t i = 0; i < sentences.size(); ++i) {
    std::copy(sentences[i].begin(), sentences[i].end(), ids->mutable_data<int64_t>() + i * length);
    std::fill_n(mask->mutable_data<int64_t>() + i * length, sentences[i].size(), 1);
  }
  predictor_->Run();

  const auto states = predictor_->GetOutput(0);
  const auto width = static_cast<size_t>(states->shape()[2]);
  std::vector<std::vector<float>> vectors;
  for (size_t i = 0; i < sentences.size(); ++i) {
    std::vector<double> sum(width, 0.0);
    const float* state = states->data<float>() + i * length * width;
    for (size_t t = 0; t < sentences[i].size(); ++t)
      for (size_t j = 0; j < width; ++j) sum[j] += *state++;
    // The direction of the sum is that of the mean.
    double squares = 0;
    for (double x : sum) squares += x * x;
    std::vector<float> vector;
    for (double x : sum) vector.push_back(static_cast<float>(x / std::sqrt(squares)));
    vectors.push_back(std::move(vector));
  }
  return vectors;
}

}  // namespace embeddings
