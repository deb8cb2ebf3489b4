#include "progress.h"

#include <unistd.h>

#include <cstdio>

namespace ocr {

Progress::Progress() : terminal_(::isatty(STDERR_FILENO) == 1) {}
Progress::~Progress() { Clear(); }

void Progress::Say(const std::string& what) {
  if (terminal_) {
    std::fprintf(stderr, "\r\x1b[K%s ...", what.c_str());
    std::fflush(stderr);
    shown_ = true;
  } else if (Clock::now() - last_ >= std::chrono::seconds(3)) {
    std::fprintf(stderr, "%s ...\n", what.c_str());
    last_ = Clock::now();
  }
}

void Progress::Clear() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
  shown_ = false;
}

}  // namespace ocr
