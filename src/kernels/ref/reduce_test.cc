#include <gtest/gtest.h>

#include <string>

#include "kernels/ref/expect_test_util.h"

namespace wherry::ref {
namespace {

TEST(Reduce, AgreesWithNumPy) {
  ExpectAll(R"(
sum | x = f32[2,3,2] -1.93 0.9 0.78 -0.32 1.41 1.02 -0.65 -1.69 -1.47 -1.26 -0.78 -0.21 | axis = [1] | -> f32[2,2]
  0.26 1.6 -2.9 -3.16
sum | x = f32[2,3,2] -1.93 0.9 0.78 -0.32 1.41 1.02 -0.65 -1.69 -1.47 -1.26 -0.78 -0.21 | -> f32[] -4.2
sum | x = f32[2,3,2] -1.93 0.9 0.78 -0.32 1.41 1.02 -0.65 -1.69 -1.47 -1.26 -0.78 -0.21 | axis = [-1, 0] | keepdim =
  true | -> f32[1,3,1] -3.37 -2.27 1.44
sum | x = f32[] 2.5 | -> f32[] 2.5
mean | x = f32[2,3,2] -1.93 0.9 0.78 -0.32 1.41 1.02 -0.65 -1.69 -1.47 -1.26 -0.78 -0.21 | axis = [1] | -> f32[2,2]
  0.08666667 0.5333333 -0.9666666 -1.053333
mean | x = f32[2,3,2] -1.93 0.9 0.78 -0.32 1.41 1.02 -0.65 -1.69 -1.47 -1.26 -0.78 -0.21 | -> f32[] -0.35
mean | x = f32[2,3,2] -1.93 0.9 0.78 -0.32 1.41 1.02 -0.65 -1.69 -1.47 -1.26 -0.78 -0.21 | axis = [-1, 0] | keepdim =
  true | -> f32[1,3,1] -0.8425 -0.5675 0.36
mean | x = f32[] 2.5 | -> f32[] 2.5
max | x = f32[2,3,2] -1.93 0.9 0.78 -0.32 1.41 1.02 -0.65 -1.69 -1.47 -1.26 -0.78 -0.21 | axis = [1] | -> f32[2,2]
  1.41 1.02 -0.65 -0.21
max | x = f32[2,3,2] -1.93 0.9 0.78 -0.32 1.41 1.02 -0.65 -1.69 -1.47 -1.26 -0.78 -0.21 | -> f32[] 1.41
max | x = f32[2,3,2] -1.93 0.9 0.78 -0.32 1.41 1.02 -0.65 -1.69 -1.47 -1.26 -0.78 -0.21 | axis = [-1, 0] | keepdim =
  true | -> f32[1,3,1] 0.9 0.78 1.41
max | x = f32[] 2.5 | -> f32[] 2.5
min | x = f32[2,3,2] -1.93 0.9 0.78 -0.32 1.41 1.02 -0.65 -1.69 -1.47 -1.26 -0.78 -0.21 | axis = [1] | -> f32[2,2]
  -1.93 -0.32 -1.47 -1.69
min | x = f32[2,3,2] -1.93 0.9 0.78 -0.32 1.41 1.02 -0.65 -1.69 -1.47 -1.26 -0.78 -0.21 | -> f32[] -1.93
min | x = f32[2,3,2] -1.93 0.9 0.78 -0.32 1.41 1.02 -0.65 -1.69 -1.47 -1.26 -0.78 -0.21 | axis = [-1, 0] | keepdim =
  true | -> f32[1,3,1] -1.93 -1.47 -0.78
min | x = f32[] 2.5 | -> f32[] 2.5
prod | x = f32[2,3,2] -1.93 0.9 0.78 -0.32 1.41 1.02 -0.65 -1.69 -1.47 -1.26 -0.78 -0.21 | axis = [1] | -> f32[2,2]
  -2.122614 -0.29376 -0.74529 -0.447174
prod | x = f32[2,3,2] -1.93 0.9 0.78 -0.32 1.41 1.02 -0.65 -1.69 -1.47 -1.26 -0.78 -0.21 | -> f32[] 0.2078095
prod | x = f32[2,3,2] -1.93 0.9 0.78 -0.32 1.41 1.02 -0.65 -1.69 -1.47 -1.26 -0.78 -0.21 | axis = [-1, 0] | keepdim =
  true | -> f32[1,3,1] -1.908094 -0.4623091 0.2355771
prod | x = f32[] 2.5 | -> f32[] 2.5
max | x = f32[2,2] 1 nan 3 -inf | axis = [1] | -> f32[2] nan 3
min | x = f32[2,2] 1 nan 3 -inf | axis = [1] | -> f32[2] nan -inf
sum | x = f32[0,2] | axis = [0] | -> f32[2] 0 0
prod | x = f32[0,2] | axis = [0] | -> f32[2] 1 1
mean | x = f32[0,2] | axis = [0] | -> f32[2] nan nan
max | x = f32[0,2] | axis = [1] | -> f32[0]
sum | x = bool[2,2] 1 1 1 0 | axis = [1] | -> i64[2] 2 1
sum | x = i8[2] 100 100 | -> i8[] -56
mean | x = i32[2] -3 -4 | -> i32[] -3
prod | x = i64[2] 4294967296 2147483648 | -> i64[] -9223372036854775808
argmax | x = f32[2,3] 1 3 3 nan 5 nan | -> i64[2] 1 0
argmax | x = f32[2,3] 1 3 3 4 2 4 | select_last = true | keepdims = true | -> i64[2,1] 2 2
argmin | x = i32[2,3] 1 3 0 4 2 4 | axis = 0 | dtype = i32 | -> i32[3] 0 1 0
argmin | x = f32[2,3] 1 3 0 4 2 4 | flatten = true | -> i64[] 2
argmax | x = f32[2,3] 1 3 0 4 2 4 | flatten = true | keepdims = true | -> i64[1,1] 3
)");
}

TEST(Reduce, OfNothing) {
  ExpectAll(R"(
max | x = f32[0,2] | axis = [0] | -> f32[2] -inf -inf
min | x = f16[0] | -> f16[] inf
max | x = i32[0] | -> i32[] -2147483648
min | x = u8[1,0] | axis = [1] | -> u8[1] 255
max | x = bool[0] | -> bool[] 0
)");
  EXPECT_NE(ErrorOf("argmin | x = f32[0,2] | axis = 0").find("no extreme element"), std::string::npos);
  EXPECT_NE(ErrorOf("mean | x = i32[0]").find("the mean of no integers"), std::string::npos);
}

TEST(Reduce, Axes) {
  EXPECT_NE(ErrorOf("sum | x = f32[2] 1 2 | axis = [1]").find("axis is 1, outside [-1, 1)"), std::string::npos);
  EXPECT_NE(ErrorOf("sum | x = f32[2] 1 2 | axis = [0, -1]").find("twice"), std::string::npos);
}

TEST(Reduce, HalfPrecisionSumsInDouble) {
  // In f16 itself 2048 + 1 is 2048.
  ExpectAll("sum | x = f16[5] 2048 1 1 1 1 | -> f16[] 2052");
}

}  // namespace
}  // namespace wherry::ref
