#include <gtest/gtest.h>

#include "kernels/ref/expect_test_util.h"

namespace wherry::ref {
namespace {

TEST(Index, PicksOut) {
  ExpectAll(R"(
gather_nd | x = i64[2,3] 0 1 2 3 4 5 | index = i64[3,2] 0 2 1 0 -1 -1 | -> i64[3] 2 3 5
gather_nd | x = i64[2,3] 0 1 2 3 4 5 | index = i32[2,1] 1 0 | -> i64[2,3] 3 4 5 0 1 2
gather_nd | x = i64[2,2,2] 0 1 2 3 4 5 6 7 | index = i64[2,1] 1 0 | batch_dims = 1 | -> i64[2,2] 2 3 4 5
gather_nd | x = i64[2] 5 6 | index = i64[3,0] | -> i64[3,2] 5 6 5 6 5 6
take_along_axis | x = i64[3,2] 0 1 2 3 4 5 | index = i64[2,2] 2 0 -1 1 | -> i64[2,2] 4 1 4 3
take_along_axis | x = i64[2,3] 0 1 2 3 4 5 | index = i32[1,4] 2 2 0 -1 | axis = 1 | -> i64[1,4] 2 2 0 2
)");
  EXPECT_NE(ErrorOf("gather_nd | x = i64[2] 0 1 | index = i64[1,1] 2 |").find("index 2 lies outside"),
            std::string::npos);
  EXPECT_NE(ErrorOf("take_along_axis | x = i64[2] 0 1 | index = i64[1] -3 |").find("index -3"), std::string::npos);
}

TEST(Index, PutsIn) {
  ExpectAll(R"(
scatter_nd | x = i64[4] 1 2 3 4 | index = i64[3,1] 1 3 1 | updates = i64[3] 7 8 9 | -> i64[4] 1 9 3 8
scatter_nd | x = i64[4] 1 2 3 4 | index = i64[3,1] 1 3 1 | updates = i64[3] 7 8 9 | reduce = "add" | -> i64[4] 1 18 3 12
scatter_nd | x = i64[4] 1 2 3 4 | index = i64[3,1] 1 3 1 | updates = i64[3] 7 -8 9 | reduce = "min" | -> i64[4] 1 2 3 -8
scatter_nd | x = i64[2,2] 1 2 3 4 | index = i64[1,1] -1 | updates = i64[1,2] 7 8 | reduce = "mul" | -> i64[2,2] 1 2 21 32
put_along_axis | x = i64[3] 1 2 3 | index = i64[3] 0 2 0 | value = i64[3] 5 6 7 | -> i64[3] 7 2 6
put_along_axis | x = i64[3] 1 2 3 | index = i64[3] 0 2 0 | value = i64[3] 5 6 7 | reduce = "add" | -> i64[3] 13 2 9
put_along_axis | x = i64[3] 1 2 3 | index = i64[3] 0 2 0 | value = i64[3] 5 6 7 | reduce = "add" | include_self = false |
  -> i64[3] 12 2 6
put_along_axis | x = f32[3] 1 2 3 | index = i64[3] 0 2 0 | value = f32[3] 5 6 6 | reduce = "mean" | -> f32[3] 4 2 4.5
put_along_axis | x = f32[3] 1 2 3 | index = i64[3] 0 2 0 | value = f32[3] 5 6 6 | reduce = "mean" | include_self = false |
  -> f32[3] 5.5 2 6
put_along_axis | x = f32[2,2] 1 2 3 4 | index = i64[1,2] 1 0 | value = f32[1,2] nan 9 | reduce = "max" | ->
  f32[2,2] 1 9 nan 4
gather_tree | ids = i64[3,1,2] 2 3 4 5 6 7 | parents = i64[3,1,2] 0 0 1 0 1 0 | -> i64[3,1,2] 2 3 5 4 6 7
set_value | x = i64[2,4] 0 0 0 0 0 0 0 0 | value = i64[2] 1 2 | axes = [1] | starts = [-1] | ends = [-100] | steps = [-2] |
  -> i64[2,4] 0 2 0 1 0 2 0 1
set_value | x = i64[3,2] 0 0 0 0 0 0 | value = i64[1,1,1] 5 | axes = [0] | starts = [1] | ends = [100] | steps = [1] |
  -> i64[3,2] 0 0 5 5 5 5
)");
  EXPECT_NE(ErrorOf("scatter_nd | x = i64[2] 0 1 | index = i64[1,1] 2 | updates = i64[1] 3 |").find("index 2 lies"),
            std::string::npos);
  EXPECT_NE(
      ErrorOf("set_value | x = i64[2] 0 1 | value = i64[] 3 | axes = [0] | starts = [0] | ends = [1] | steps = [0] |")
          .find("steps are [0]"),
      std::string::npos);
  EXPECT_NE(
      ErrorOf("set_value | x = i64[2] 0 1 | value = i64[3] 3 3 3 | axes = [] | starts = [] | ends = [] | steps = [] |")
          .find("does not broadcast"),
      std::string::npos);
}

}  // namespace
}  // namespace wherry::ref
