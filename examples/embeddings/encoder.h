// The network: what a sentence means as a vector of length 1.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "wherry/predictor.h"

namespace embeddings {

class Encoder {
 public:
  // A BERT that takes input_ids and attention_mask and gives f32[batch, sequence, width]. threads: 0 is all. Throws
  // wherry::Error, or std::runtime_error for another network.
  Encoder(const std::string& model, int threads);

  // The sentences as one batch, filled up to the longest: for each the mean over its tokens, of length 1.
  std::vector<std::vector<float>> Encode(const std::vector<std::vector<int64_t>>& sentences);

 private:
  std::shared_ptr<wherry::PaddlePredictor> predictor_;
};

}  // namespace embeddings
