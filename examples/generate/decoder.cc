#include "decoder.h"

#include <algorithm>
#include <stdexcept>

namespace generate {

Decoder::Decoder(const std::string& model, int threads) {
  wherry::CxxConfig config;
  config.set_model_file(model);
  config.set_threads(threads);
  predictor_ = wherry::CreatePaddlePredictor(config);
  if (predictor_->GetInputNames() != std::vector<std::string>{"input_ids", "past"} ||
      predictor_->GetOutputNames() != std::vector<std::string>{"logits", "present"})
    throw std::runtime_error("'" + model + "' is not input_ids, past -> logits, present");
  std::vector<int64_t> shape;
  for (const wherry::InputDim& dim : predictor_->Inputs()[1].dims) shape.push_back(dim.value);
  if (shape.size() != 5) throw std::runtime_error("the past of '" + model + "' has not five dimensions");
  shape[1] = 1;
  shape[3] = 0;  // nothing was before
  past_ = predictor_->GetInputByName("past");
  past_->Resize(shape);
  past_->mutable_data<float>();
}

int64_t Decoder::Next(const std::vector<int64_t>& tokens) {
  const auto ids = predictor_->GetInputByName("input_ids");
  ids->Resize({1, static_cast<int64_t>(tokens.size())});
  std::copy(tokens.begin(), tokens.end(), ids->mutable_data<int64_t>());
  predictor_->Run();

  // The present is the next past, without a copy: an output that somebody holds is not written again.
  const std::shared_ptr<const wherry::Tensor> present = predictor_->GetOutputByName("present");
  past_->Resize(present->shape());
  past_->ShareExternalMemory(const_cast<float*>(present->data<float>()), present->nbytes(), wherry::DataType::kFloat,
                             [present] {});

  const auto logits = predictor_->GetOutputByName("logits");
  const int64_t vocabulary = logits->shape()[2];
  const float* const last = logits->data<float>() + logits->numel() - vocabulary;
  return std::max_element(last, last + vocabulary) - last;
}

}  // namespace generate
