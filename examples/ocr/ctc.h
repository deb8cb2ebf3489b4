// Reading what a recognition network puts out.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ocr {

// What each class of the network stands for. Class 0 is CTC's "nothing here".
class Dictionary {
 public:
  // The characters (UTF-8), one a line, in the order of the classes from 1 on.
  static Dictionary Parse(const std::string& text);

  // Makes the classes fit a network with that many: one more than there are characters, or two, and the last is the
  // space. std::runtime_error for any other number.
  void FitTo(size_t classes);

  size_t classes() const { return characters_.size(); }
  const std::string& operator[](size_t k) const { return characters_[k]; }

 private:
  std::vector<std::string> characters_;  // by class; [0] is empty
};

struct Reading {
  std::string text;
  float score = 0;  // the mean probability of its characters; 0 without any
};

// The most probable class at each of the `steps`, without repetitions and blanks. `probabilities` has `steps` rows of
// dictionary.classes() each.
Reading DecodeCtc(const float* probabilities, size_t steps, const Dictionary& dictionary);

}  // namespace ocr
