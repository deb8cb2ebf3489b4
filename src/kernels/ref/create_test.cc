#include <gtest/gtest.h>

#include <string>

#include "kernels/ref/expect_test_util.h"

namespace wherry::ref {
namespace {

TEST(Create, AgreesWithNumPy) {
  ExpectAll(R"(
shape | x = f32[2,0,3] | -> i64[3] 2 0 3
shape | x = f32[] 1 | dtype = i32 | -> i32[0]
full | shape = [2, 2] | value = 1.5 | -> f32[2,2] 1.5 1.5 1.5 1.5
full | shape = [] | value = -3 | dtype = i64 | -> i64[] -3
full | shape = [3] | value = inf | dtype = f16 | -> f16[3] inf inf inf
full | shape = [1] | value = 9007199254740993 | dtype = i64 | -> i64[1] 9007199254740993
full_like | x = f32[2,1] -0.71 0.28 | value = 7 | -> f32[2,1] 7 7
full_like | x = f32[2,1] 1.01 0.36 | value = 0.5 | dtype = f64 | -> f64[2,1] 0.5 0.5
arange | start = 5 | end = -4 | step = -2 | -> i64[5] 5 3 1 -1 -3
arange | start = 0.0 | end = 1.0 | step = 0.3 | dtype = f32 | -> f32[4] 0 0.3 0.6 0.9
arange | start = 5 | end = 0 | -> i64[0]
fused_elementwise | inputs = f32[2,3] 1.21 0.2 -1.21 0.33 -0.04 -1.34 | inputs = f32[3] 0.48 1.27 -1.46 | inputs =
  f32[] 2 | program = 3: mul(0, 1); add(3, 2); relu(4); max(5, 0); sub(6, 1); constant(0.5); div(7, 8) | -> f32[2,3]
  4.2016 1.968 10.4532 3.3568 1.3584 10.8328
)");
}

TEST(Create, Errors) {
  EXPECT_NE(ErrorOf("arange | start = 0 | end = 5 | step = 0").find("step is 0"), std::string::npos);
  EXPECT_NE(ErrorOf("arange | start = 0 | end = 9223372036854775807 | step = 1").find("a range of"), std::string::npos);
  EXPECT_NE(ErrorOf("full | shape = [-1] | value = 1").find("shape is [-1]"), std::string::npos);
}

}  // namespace
}  // namespace wherry::ref
