// example_vad: says when somebody speaks in a sound file.
//
// Exit status: 0 done, 2 usage, 1 anything else with one message on standard error.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "segments.h"
#include "speech_detector.h"
#include "wav.h"

namespace {

struct Options {
  std::string sound;
  std::string model;
  bool probabilities = false;
};

// The sound at a rate that the network knows; of multiples of 16000 it takes every second, third... sample.
vad::Sound AtKnownRate(const vad::Sound& sound) {
  constexpr int kRate = 16000;
  if (sound.rate <= kRate || sound.rate % kRate != 0) return sound;
  vad::Sound known{kRate, {}};
  const auto step = static_cast<size_t>(sound.rate / kRate);
  for (size_t i = 0; i < sound.samples.size(); i += step) known.samples.push_back(sound.samples[i]);
  return known;
}

void Run(const Options& options) {
  vad::Sound sound = AtKnownRate(vad::ReadWav(options.sound));
  vad::SpeechDetector detector(options.model, sound.rate);
  const double length = static_cast<double>(sound.samples.size()) / sound.rate;
  const double step = static_cast<double>(detector.window()) / sound.rate;
  const size_t windows = (sound.samples.size() + detector.window() - 1) / detector.window();
  sound.samples.resize(windows * detector.window());  // the last one is filled up with silence

  std::vector<float> probabilities;
  for (size_t i = 0; i < windows; ++i) {
    probabilities.push_back(detector.Probability(sound.samples.data() + i * detector.window()));
    if (options.probabilities)
      std::printf("%.3f s: %.6f\n", static_cast<double>(i) * step, static_cast<double>(probabilities.back()));
  }
  for (const vad::Segment& segment : vad::FindSegments(probabilities, step, length, {}))
    std::printf("speech from %.3f s to %.3f s\n", segment.begin, segment.end);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Says when somebody speaks in a sound file, by silero-vad.", "example_vad");
  Options options;
  app.add_option("SOUND", options.sound, "a WAV file: 16 bit, 8000 samples a second or a multiple of 16000")
      ->required();
  app.add_option("--model", options.model, "silero_vad.onnx")->required();
  app.add_flag("--probabilities", options.probabilities, "prints that of each 32 ms, too");
  try {
    app.parse(argc, argv);
    Run(options);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "vad: %s\n", error.what());
    return 1;
  }
  return 0;
}
