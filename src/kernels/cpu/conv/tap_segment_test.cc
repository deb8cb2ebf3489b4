#include "kernels/cpu/conv/tap_segment.h"

#include <gtest/gtest.h>

namespace wherry::cpu {
namespace {

TEST(TapSegment, ThreeByThreeHasThreeSegments) {
  const auto segments = MakeTapSegments(10, 10, 3, 1, 1, 1);
  ASSERT_EQ(segments.size(), 3u);
  EXPECT_EQ(segments[0].size(), 1);
  EXPECT_EQ(segments[0].tap_begin, 1);
  EXPECT_EQ(segments[1].size(), 8);
  EXPECT_EQ(segments[1].taps(), 3);
  EXPECT_EQ(segments[2].tap_end, 2);
}

TEST(TapSegment, EveryPositionHasExactlyTheTapsInsideTheImage) {
  for (int64_t in : {1, 2, 5, 9}) {
    for (int64_t kernel : {1, 2, 3, 5}) {
      for (int64_t stride : {1, 2, 3}) {
        for (int64_t dilation : {1, 2, 4}) {
          for (int64_t pad : {0, 1, 3, 12}) {
            const int64_t out = 7;
            int64_t position = 0;
            for (const TapSegment& s : MakeTapSegments(in, out, kernel, stride, dilation, pad)) {
              ASSERT_EQ(s.begin, position);
              for (; position < s.end; ++position) {
                for (int64_t tap = 0; tap < kernel; ++tap) {
                  const int64_t read = position * stride - pad + tap * dilation;
                  EXPECT_EQ(read >= 0 && read < in, tap >= s.tap_begin && tap < s.tap_end);
                }
              }
            }
            EXPECT_EQ(position, out);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace wherry::cpu
