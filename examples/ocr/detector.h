// Finding the lines of text in an image.
#pragma once

#include <string>
#include <vector>

#include "image.h"
#include "network.h"
#include "text_boxes.h"

namespace ocr {

class Detector {
 public:
  Detector(const std::string& model, int threads) : network_(model, threads) {}

  // The boxes of the lines in the image's pixels; they may reach over its edge. The text of a box may still stand on
  // its head. The network sees lines that are far from level as single words: it then looks again at the levelled page.
  std::vector<TextBox> Find(const Image& image, const TextBoxOptions& options);

  const NetworkTimes& times() const { return network_.times(); }

 private:
  std::vector<TextBox> FindOnce(const Image& image, const TextBoxOptions& options);

  Network network_;
};

// The size at which the network looks at an image: its sides are multiples of 32.
struct Size {
  int width = 0;
  int height = 0;
};
Size DetectionSize(int width, int height);

}  // namespace ocr
