// From an image to the lines of text in it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "detector.h"
#include "orienter.h"
#include "recognizer.h"

namespace ocr {

struct ModelPaths {
  std::string detector;
  std::string orienter;
  std::string recognizer;
  std::string dictionary;  // empty: it is in the recognizer
};

struct Line {
  std::string text;
  float score = 0;  // the mean probability of its characters
  Quad box;         // in pixels of the image
};

struct ReaderOptions {
  TextBoxOptions boxes;
  float least_score = 0.5F;  // lines that were read with less are dropped
};

class TextReader {
 public:
  // Loads the networks. `threads`: as for wherry::CxxConfig.
  TextReader(const ModelPaths& models, int threads);

  // The lines in reading order. `progress` is told what is being done.
  std::vector<Line> Read(const Image& image, const ReaderOptions& options,
                         const std::function<void(const std::string&)>& progress);

  struct Stage {
    const char* name;
    const NetworkTimes& times;
  };
  std::vector<Stage> stages() const;

 private:
  // How much better a few of the lines can be read when they are turned upside down; less than 0: worse.
  float ReadBothWays(const Image& image, const std::vector<TextBox>& boxes);

  Detector detector_;
  Orienter orienter_;
  Recognizer recognizer_;
};

}  // namespace ocr
