// The network: a decoder whose keys and values of the tokens so far (its cache) go in and come out of each call.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "wherry/predictor.h"

namespace generate {

class Decoder {
 public:
  // A network with the inputs input_ids i64[1, new] and past f32[parts, 1, heads, tokens, width], and the outputs
  // logits f32[1, new, vocabulary] and present, which is past with the new tokens. threads: 0 is all. Throws
  // wherry::Error, or std::runtime_error for another network.
  Decoder(const std::string& model, int threads);

  // The most likely token after those so far and these.
  int64_t Next(const std::vector<int64_t>& tokens);

 private:
  std::shared_ptr<wherry::PaddlePredictor> predictor_;
  std::unique_ptr<wherry::Tensor> past_;
};

}  // namespace generate
