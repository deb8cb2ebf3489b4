// Reading lines of text.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ctc.h"
#include "image.h"
#include "network.h"

namespace ocr {

class Recognizer {
 public:
  // The dictionary is a file with one character a line; empty: the model's own property "character" (as the ONNX forms
  // of PP-OCR have it). std::runtime_error if there is none.
  Recognizer(const std::string& model, const std::string& dictionary, int threads);

  // The text of each line, which must be upright. `done` is told how many lines have been read.
  std::vector<Reading> Read(const std::vector<Image>& lines, const std::function<void(size_t)>& done);

  const NetworkTimes& times() const { return network_.times(); }

 private:
  Network network_;
  Dictionary dictionary_;
};

}  // namespace ocr
