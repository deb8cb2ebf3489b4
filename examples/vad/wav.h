// Sound files.
#pragma once

#include <string>
#include <vector>

namespace vad {

struct Sound {
  int rate = 0;                // samples a second
  std::vector<float> samples;  // of one channel, in [-1, 1]
};

// A WAV file with 16-bit samples; channels are averaged. Throws std::runtime_error that names the file.
Sound ReadWav(const std::string& path);

}  // namespace vad
