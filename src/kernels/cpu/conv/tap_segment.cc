#include "kernels/cpu/conv/tap_segment.h"

#include <algorithm>

#include "kernels/cpu/conv/ceil_divide.h"

namespace wherry::cpu {

std::vector<TapSegment> MakeTapSegments(int64_t in_size, int64_t out_size, int64_t kernel, int64_t stride,
                                        int64_t dilation, int64_t pad_begin) {
  std::vector<TapSegment> segments;
  for (int64_t position = 0; position < out_size; ++position) {
    const int64_t origin = position * stride - pad_begin;  // what tap 0 reads
    const int64_t tap_begin = std::clamp<int64_t>(CeilDivide(-origin, dilation), 0, kernel);
    const int64_t tap_end = std::clamp<int64_t>(CeilDivide(in_size - origin, dilation), tap_begin, kernel);
    const bool same = !segments.empty() && segments.back().taps() == tap_end - tap_begin &&
                      (segments.back().tap_begin == tap_begin || tap_begin == tap_end);
    if (same) {
      segments.back().end = position + 1;
    } else {
      segments.push_back({position, position + 1, tap_begin, tap_end});
    }
  }
  return segments;
}

}  // namespace wherry::cpu
