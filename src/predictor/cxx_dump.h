// What --dump writes: the program after each pass as a numbered text file, and the weights that are too long for it.
#pragma once

#include <string>

#include "ir/program.h"

namespace wherry {

// The file beside the texts with the weights that they leave out.
inline constexpr char kDumpedWeights[] = "weights.wry";

// One folder of dumps, which is made when needed. Not thread-safe. Errors of the file system are Errors.
class ProgramDump {
 public:
  // "": writes nothing.
  explicit ProgramDump(std::string folder) : folder_(std::move(folder)) {}

  bool on() const { return !folder_.empty(); }
  // FOLDER/000_NAME.wir, 001_..., in the order of the calls.
  void Write(const std::string& name, const Program& program);
  // Once, after the last: FOLDER/weights.wry. The texts can be loaded as models then.
  void WriteWeights() const;

 private:
  std::string folder_;
  int number_ = 0;
  WeightTable weights_;
};

}  // namespace wherry
