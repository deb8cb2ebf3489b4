// Tells on standard error what takes so long.
#pragma once

#include <chrono>
#include <string>

namespace ocr {

// On a terminal one line, which is replaced and at last removed; elsewhere nothing in the first three seconds, then a
// line every three seconds.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Say(const std::string& what);
  void Clear();  // the terminal's line, before something else is printed

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point last_ = Clock::now();
};

}  // namespace ocr
