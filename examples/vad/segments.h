// From probabilities to stretches of speech.
#pragma once

#include <vector>

namespace vad {

// In seconds.
struct Segment {
  double begin;
  double end;
};

struct SegmentOptions {
  double begin_threshold = 0.5;  // a window at least this likely begins speech,
  double end_threshold = 0.35;   // and windows below this,
  double least_silence = 0.1;    // for this long, end it
  double least_speech = 0.25;    // shorter stretches are left out
  double padding = 0.03;         // what is left is longer by this on both sides
};

// probabilities[i] is that of the seconds from i * step on; `length` is where the sound ends.
std::vector<Segment> FindSegments(const std::vector<float>& probabilities, double step, double length,
                                  const SegmentOptions& options);

}  // namespace vad
