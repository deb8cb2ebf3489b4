// A network that looks at images: a Wherry predictor, what it is fed, and how long it takes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "image.h"
#include "wherry/predictor.h"

namespace ocr {

// In milliseconds.
struct NetworkTimes {
  double load = 0;      // from the file to ready, all of it
  double optimize = 0;  // the part of that in the optimiser's passes
  double run = 0;       // all runs together
  int runs = 0;
};

class Network {
 public:
  // Loads the model (whatever Wherry reads). wherry::Error if that fails; std::runtime_error if it is no network with
  // one f32 input of four dimensions.
  Network(const std::string& path, int threads);

  const std::string& path() const { return path_; }
  const NetworkTimes& times() const { return times_; }
  const wherry::PaddlePredictor& predictor() const { return *predictor_; }

  // Runs on images of that height and at most that width, as PP-OCR's networks want them: planes of blue, green and
  // red from -1 to 1; what is missing at the right is 0. Returns the first output, f32.
  wherry::Tensor Run(const std::vector<const Image*>& images, int height, int width);

  // std::runtime_error that says: the model at path() is no `what`, its output has this shape.
  [[noreturn]] void RefuseOutput(const std::string& what, const wherry::Tensor& output) const;

 private:
  std::string path_;
  std::shared_ptr<wherry::PaddlePredictor> predictor_;
  NetworkTimes times_;
};

}  // namespace ocr
