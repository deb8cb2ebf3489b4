#include "ctc.h"

#include <algorithm>
#include <stdexcept>

namespace ocr {

Dictionary Dictionary::Parse(const std::string& text) {
  Dictionary dictionary;
  dictionary.characters_.emplace_back();
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const bool carriage_return = end > begin && text[end - 1] == '\r';
    dictionary.characters_.push_back(text.substr(begin, end - begin - (carriage_return ? 1 : 0)));
    begin = end + 1;
  }
  return dictionary;
}

void Dictionary::FitTo(size_t classes) {
  if (characters_.size() + 1 == classes) characters_.emplace_back(" ");
  if (characters_.size() != classes) {
    throw std::runtime_error("the dictionary has " + std::to_string(characters_.size() - 1) +
                             " characters, which does not fit a network with " + std::to_string(classes) + " classes");
  }
}

Reading DecodeCtc(const float* probabilities, size_t steps, const Dictionary& dictionary) {
  Reading reading;
  double sum = 0;
  int count = 0;
  size_t last = 0;
  for (size_t step = 0; step < steps; ++step) {
    const float* row = probabilities + step * dictionary.classes();
    const auto best = static_cast<size_t>(std::max_element(row, row + dictionary.classes()) - row);
    if (best != 0 && best != last) {
      reading.text += dictionary[best];
      sum += static_cast<double>(row[best]);
      ++count;
    }
    last = best;
  }
  if (count > 0) reading.score = static_cast<float>(sum / count);
  return reading;
}

}  // namespace ocr
