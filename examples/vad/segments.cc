#include "segments.h"

#include <algorithm>
#include <cstddef>

namespace vad {

std::vector<Segment> FindSegments(const std::vector<float>& probabilities, double step, double length,
                                  const SegmentOptions& options) {
  std::vector<Segment> segments;
  constexpr double kNone = -1;
  double begin = kNone;    // of the stretch that goes on
  double silence = kNone;  // since when it has been silent in it
  const auto close = [&](double end) {
    if (end - begin >= options.least_speech) {
      // The padding of neighbours may not overlap.
      const double from = std::max(begin - options.padding, segments.empty() ? 0.0 : segments.back().end);
      segments.push_back({from, std::min(end + options.padding, length)});
    }
    begin = silence = kNone;
  };
  for (size_t i = 0; i < probabilities.size(); ++i) {
    const double now = static_cast<double>(i) * step;
    const double p = probabilities[i];
    if (p >= options.begin_threshold) {
      if (begin == kNone) begin = now;
      silence = kNone;
    } else if (begin != kNone && p < options.end_threshold) {
      if (silence == kNone) silence = now;
      if (now - silence >= options.least_silence) close(silence);
    }
  }
  if (begin != kNone) close(silence == kNone ? length : silence);
  return segments;
}

}  // namespace vad
