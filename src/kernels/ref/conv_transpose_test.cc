#include <gtest/gtest.h>

#include <string>

#include "kernels/ref/expect_test_util.h"

namespace wherry::ref {
namespace {

TEST(ConvTranspose, AgreesWithOthers) {
  ExpectAll(R"(
conv2d_transpose | x = f32[1,2,2,3] -1.7 -1.1 1.2 0.3 -1.6 -0.3 -0.1 -1.4 0.9 -1.5 -0.4 0.1 | filter = f32[2,1,2,2]
  -0.3 0.3 1 1.8 -0.9 0.6 0.8 -0.8 | strides = [2, 2] | -> f32[1,1,4,6] 0.6 -0.5700001 1.59 -1.17 -1.17 0.9 -1.78
  -2.98 -2.22 -0.86 1.92 1.44 1.26 -0.8100001 0.84 -0.72 4.61936e-09 -0.03 -0.9 1.74 -1.92 -2.56 -0.22 -0.62
conv2d_transpose | x = f32[1,2,2,3] -1.7 -1.1 1.2 0.3 -1.6 -0.3 -0.1 -1.4 0.9 -1.5 -0.4 0.1 | filter = f32[2,1,2,2]
  -0.3 0.3 1 1.8 -0.9 0.6 0.8 -0.8 | groups = 2 | dilations = [1, 2] | paddings = [1, 0, 0, 1] | output_padding = [0,
  1] | strides = [1, 3] | -> f32[1,2,2,9] -1.79 0 -2.97 -0.62 0 -2.46 1.29 0 2.07 0.3 0 0.54 -1.6 0 -2.88 -0.3 0 -0.54
  1.27 0 -0.8200001 -0.76 0 0.88 0.63 0 -0.66 -1.2 0 1.2 -0.32 0 0.32 0.08000001 0 -0.08000001
conv2d_transpose | x = f32[1,2,2,3] -1.7 -1.1 1.2 0.3 -1.6 -0.3 -0.1 -1.4 0.9 -1.5 -0.4 0.1 | filter = f32[2,1,2,2]
  -0.3 0.3 1 1.8 -0.9 0.6 0.8 -0.8 | strides = [3, 1] | output_size = [4, 3] | padding_algorithm = "SAME_LOWER" | ->
  f32[1,1,4,3] -5.2 1.06 1.44 0 0 0 0.02999997 -0.72 -0.03 -0.1800001 -2.78 -0.62
conv2d_transpose | x = f32[1,2,2,3] -1.7 -1.1 1.2 0.3 -1.6 -0.3 -0.1 -1.4 0.9 -1.5 -0.4 0.1 | filter = f32[2,1,2,2]
  -0.3 0.3 1 1.8 -0.9 0.6 0.8 -0.8 | padding_algorithm = "SAME" | -> f32[1,1,2,3] 0.6 1.02 -2.34 -0.5200001 -5.17 0.34
conv3d_transpose | x = f32[1,1,2,2,2] -2 1.9 -0.8 -0.7 1.6 0.3 -0.1 1.1 | filter = f32[1,2,1,2,2] -1.9 0.8 -0.5 -1.6
  0.6 1.7 -1.2 0.5 | strides = [2, 1, 1] | -> f32[1,2,3,3,3] 3.8 -5.21 1.52 2.52 2.94 -3.6 0.4 1.63 1.12 0 0 0 0 0 0 0
  0 0 -3.04 0.7100001 0.24 -0.61 -4.88 0.4 0.05 -0.39 -1.76 -1.2 -2.26 3.23 1.92 -5.06 -0.2400001 0.96 0.44 -0.35 0 0
  0 0 0 0 0 0 0 0.96 2.9 0.5100001 -1.98 0.93 2.02 0.12 -1.37 0.55
conv2d_transpose | x = f32[1,1,2,2] 1 2 3 4 | filter = f32[1,1,3,3] 1 2 3 4 5 6 7 8 9 | strides = [2, 2] | paddings = [1, 1]
  | output_padding = [1, 1] | -> f32[1,1,4,4] 5 14 10 12 14 36 24 30 15 34 20 24 24 55 32 36
conv2d_transpose | x = f32[1,1,1,2] 1 2 | filter = f32[1,1,1,3] 1 10 100 | strides = [1, 2] | output_size = [1, 7] | paddings = [0, 1]
  | -> f32[1,1,1,7] 10 102 20 200 0 0 0
conv2d_transpose | x = f32[1,1,1,4] 1 2 3 4 | filter = f32[1,1,1,3] 1 10 100 | strides = [1, 2] | padding_algorithm = "SAME_FORWARD"
  | -> f32[1,1,1,8] 1 10 102 20 203 30 304 40
)");
}

TEST(ConvTranspose, Errors) {
  const std::string x = "conv2d_transpose | x = f32[1,1,2,2] 1 2 3 4 | filter = ";
  EXPECT_NE(ErrorOf(x + "f32[2,1,1,1] 1 2").find("1 channels, filter [2,1,1,1] takes 2"), std::string::npos);
  EXPECT_NE(ErrorOf(x + "f32[1,1,1,1] 1 | paddings = [2, 0]").find("would have -2 elements"), std::string::npos);
}

}  // namespace
}  // namespace wherry::ref
