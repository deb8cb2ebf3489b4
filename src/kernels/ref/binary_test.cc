#include <gtest/gtest.h>

#include <string>

#include "kernels/ref/expect_test_util.h"

namespace wherry::ref {
namespace {

TEST(Binary, AgreesWithNumPy) {
  ExpectAll(R"(
add | x = f32[2,3] 0.49 1.96 -1.14 -1.36 0.45 -1.82 | y = f32[3] -1.86 0.06 -0.14 | -> f32[2,3] -1.37 2.02 -1.28 -3.22
  0.51 -1.96
add | x = f32[13] 5 -5 5 -5 0 1 -1 nan inf 1 7.5 -7.5 1 | y = f32[13] 3 3 -3 -3 3 0 0 1 2 nan inf inf -0 | -> f32[13]
  8 -2 2 -8 3 1 -1 nan inf nan inf inf 1
subtract | x = f32[2,3] 0.49 1.96 -1.14 -1.36 0.45 -1.82 | y = f32[3] -1.86 0.06 -0.14 | -> f32[2,3] 2.35 1.9 -1 0.5
  0.39 -1.68
subtract | x = f32[13] 5 -5 5 -5 0 1 -1 nan inf 1 7.5 -7.5 1 | y = f32[13] 3 3 -3 -3 3 0 0 1 2 nan inf inf -0 | ->
  f32[13] 2 -8 8 -2 -3 1 -1 nan inf nan -inf -inf 1
multiply | x = f32[2,3] 0.49 1.96 -1.14 -1.36 0.45 -1.82 | y = f32[3] -1.86 0.06 -0.14 | -> f32[2,3] -0.9114 0.1176
  0.1596 2.5296 0.027 0.2548
multiply | x = f32[13] 5 -5 5 -5 0 1 -1 nan inf 1 7.5 -7.5 1 | y = f32[13] 3 3 -3 -3 3 0 0 1 2 nan inf inf -0 | ->
  f32[13] 15 -15 -15 15 0 0 -0 nan inf nan inf -inf -0
divide | x = f32[2,3] 0.49 1.96 -1.14 -1.36 0.45 -1.82 | y = f32[3] -1.86 0.06 -0.14 | -> f32[2,3] -0.2634409 32.66667
  8.142857 0.7311828 7.5 13
divide | x = f32[13] 5 -5 5 -5 0 1 -1 nan inf 1 7.5 -7.5 1 | y = f32[13] 3 3 -3 -3 3 0 0 1 2 nan inf inf -0 | ->
  f32[13] 1.666667 -1.666667 -1.666667 1.666667 0 inf -inf nan inf nan 0 -0 -inf
maximum | x = f32[2,3] 0.49 1.96 -1.14 -1.36 0.45 -1.82 | y = f32[3] -1.86 0.06 -0.14 | -> f32[2,3] 0.49 1.96 -0.14
  -1.36 0.45 -0.14
maximum | x = f32[13] 5 -5 5 -5 0 1 -1 nan inf 1 7.5 -7.5 1 | y = f32[13] 3 3 -3 -3 3 0 0 1 2 nan inf inf -0 | ->
  f32[13] 5 3 5 -3 3 1 0 nan inf nan inf inf 1
minimum | x = f32[2,3] 0.49 1.96 -1.14 -1.36 0.45 -1.82 | y = f32[3] -1.86 0.06 -0.14 | -> f32[2,3] -1.86 0.06 -1.14
  -1.86 0.06 -1.82
minimum | x = f32[13] 5 -5 5 -5 0 1 -1 nan inf 1 7.5 -7.5 1 | y = f32[13] 3 3 -3 -3 3 0 0 1 2 nan inf inf -0 | ->
  f32[13] 3 -5 -3 -5 0 0 -1 nan 2 nan 7.5 -7.5 -0
remainder | x = f32[2,3] 0.49 1.96 -1.14 -1.36 0.45 -1.82 | y = f32[3] -1.86 0.06 -0.14 | -> f32[2,3] -1.37 0.04000008
  -0.01999998 -1.36 0.03 -4.470348e-08
remainder | x = f32[13] 5 -5 5 -5 0 1 -1 nan inf 1 7.5 -7.5 1 | y = f32[13] 3 3 -3 -3 3 0 0 1 2 nan inf inf -0 | ->
  f32[13] 2 1 -1 -2 0 nan nan nan nan nan 7.5 inf nan
fmod | x = f32[2,3] 0.49 1.96 -1.14 -1.36 0.45 -1.82 | y = f32[3] -1.86 0.06 -0.14 | -> f32[2,3] 0.49 0.04000008
  -0.01999998 -1.36 0.03 -4.470348e-08
fmod | x = f32[13] 5 -5 5 -5 0 1 -1 nan inf 1 7.5 -7.5 1 | y = f32[13] 3 3 -3 -3 3 0 0 1 2 nan inf inf -0 | -> f32[13]
  2 -2 2 -2 0 nan nan nan nan nan 7.5 -7.5 nan
floor_divide | x = f32[2,3] 0.49 1.96 -1.14 -1.36 0.45 -1.82 | y = f32[3] -1.86 0.06 -0.14 | -> f32[2,3] -1 32 8 0 7
  13
floor_divide | x = f32[13] 5 -5 5 -5 0 1 -1 nan inf 1 7.5 -7.5 1 | y = f32[13] 3 3 -3 -3 3 0 0 1 2 nan inf inf -0 | ->
  f32[13] 1 -2 -2 1 0 inf -inf nan nan nan 0 -1 -inf
add | x = f32[2,1] 1.67 0.52 | y = f32[1,3] -1.86 0.06 -0.14 | -> f32[2,3] -0.1900001 1.73 1.53 -1.34 0.58 0.38
add | x = f32[] 2 | y = f32[3] -1.86 0.06 -0.14 | -> f32[3] 0.14 2.06 1.86
subtract | x = f32[0,3] | y = f32[3] -1.86 0.06 -0.14 | -> f32[0,3]
elementwise_pow | x = f32[6] 2 9 -2 0 0 -8 | y = f32[6] 10 0.5 3 0 -1 0.3333333 | -> f32[6] 1024 3 -8 1 inf nan
elementwise_pow | x = i64[7] 2 -3 1 -1 -1 5 0 | y = i64[7] 62 3 -5 -5 -4 -1 0 | -> i64[7] 4611686018427387904 -27 1 -1
  1 0 1
divide | x = i32[6] 7 -7 7 -7 -2147483648 0 | y = i32[6] 3 3 -3 -3 -1 5 | -> i32[6] 2 -2 -2 2 -2147483648 0
floor_divide | x = i32[6] 7 -7 7 -7 -2147483648 0 | y = i32[6] 3 3 -3 -3 -1 5 | -> i32[6] 2 -3 -3 2 -2147483648 0
remainder | x = i32[6] 7 -7 7 -7 -2147483648 0 | y = i32[6] 3 3 -3 -3 -1 5 | -> i32[6] 1 2 -2 -1 0 0
fmod | x = i32[6] 7 -7 7 -7 -2147483648 0 | y = i32[6] 3 3 -3 -3 -1 5 | -> i32[6] 1 -1 1 -1 0 0
add | x = i8[2] 127 -128 | y = i8[2] 1 -1 | -> i8[2] -128 127
multiply | x = i64[1] 1099511627776 | y = i64[1] 1099511627776 | -> i64[1] 0
subtract | x = u8[1] 1 | y = u8[1] 2 | -> u8[1] 255
divide | x = u8[1] 250 | y = u8[1] 7 | -> u8[1] 35
add | x = bool[3] 1 1 0 | y = bool[3] 1 0 0 | -> bool[3] 1 1 0
)");
}

// 1 + 2^-8 lies halfway between two bf16 values and goes to the even one; 256 + 1 does in f16 what it does in numbers.
TEST(Binary, SixteenBitFloats) {
  ExpectAll(R"(
add | x = bf16[2] 1 256 | y = bf16[2] 0.00390625 1 | -> bf16[2] 1 256
add | x = f16[2] 2048 256 | y = f16[2] 1 1 | -> f16[2] 2048 257
multiply | x = f16[1] 65504 | y = f16[1] 2 | -> f16[1] inf
matmul | x = bf16[1,2] 256 1 | y = bf16[2,1] 1 3 | -> bf16[1,1] 260
)");
}

// A condition takes no part in the type of the result.
TEST(Binary, MixedTypesArePromoted) {
  ExpectAll(R"(
add | x = f16[2] 1 2 | y = f32[2] 0.5 1e10 | -> f32[2] 1.5 1e10
multiply | x = i32[2] 3 -4 | y = i64[2] 2 4294967296 | -> i64[2] 6 -17179869184
where | condition = bool[2] 1 0 | x = f16[2] 1 2 | y = f32[2] 3 4 | -> f32[2] 1 4
layer_norm | x = f32[1,2] 1 3 | scale = f16[2] 1 2 | epsilon = 0.0 | -> f32[1,2] -1 2
)");
}

TEST(Binary, IntegerDivisionByZero) {
  for (const char* op : {"divide", "floor_divide", "remainder", "fmod"}) {
    EXPECT_NE(ErrorOf(std::string(op) + " | x = i32[2] 1 2 | y = i32[2] 1 0").find("integer division by zero"),
              std::string::npos)
        << op;
  }
  EXPECT_NE(ErrorOf("elementwise_pow | x = i64[1] 0 | y = i64[1] -1").find("zero to the power -1"), std::string::npos);
}

TEST(Binary, ShapesThatDoNotBroadcast) {
  const std::string message = ErrorOf("add | x = f32[2] 1 2 | y = f32[3] 1 2 3");
  EXPECT_NE(message.find("x [2] and y [3] do not broadcast"), std::string::npos) << message;
}

}  // namespace
}  // namespace wherry::ref
