// Telling text that stands on its head.
#pragma once

#include <string>
#include <vector>

#include "image.h"
#include "network.h"

namespace ocr {

class Orienter {
 public:
  Orienter(const std::string& model, int threads) : network_(model, threads) {}

  // For each line, the probability that it stands on its head.
  std::vector<float> UpsideDown(const std::vector<Image>& lines);

  const NetworkTimes& times() const { return network_.times(); }

 private:
  Network network_;
};

}  // namespace ocr
