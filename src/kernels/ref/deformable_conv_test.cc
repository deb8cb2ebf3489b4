#include <gtest/gtest.h>

#include "kernels/ref/expect_test_util.h"

namespace wherry::ref {
namespace {

TEST(DeformableConv, AgreesWithOthers) {
  ExpectAll(R"(
deformable_conv | x = f32[1,2,3,3] 1.3 -1 -0.1 -0.6 -1 0.3 -0.7 0.5 0.3 -1.6 -0.2 -0.4 0.8 -1.6 -1.3 0.1 -0.4 0.7 |
  offset = f32[1,8,2,2] -0.7 -1.2 1.7 -1 -1.4 -0.9 -0.6 -1.1 0.1 1.7 -1.5 -0.3 0.7 1.5 2 -1.4 0.1 1.5 -1.8 0.4 -1.3
  1.1 1.8 0.2 -2 -1.7 -0.3 1.4 -1.1 0.7 -0.4 -0.9 | filter = f32[1,2,2,2] 0.8 -0.8 -0.5 1.1 -0 1.1 0.1 -1.4 | mask =
  f32[1,4,2,2] -0.2 1.5 0.3 1.9 -2 -0.6 1.1 0.7 0.2 0.7 1.5 0.7 0.2 0.2 0.7 -0.7 | -> f32[1,1,2,2] 0.4318002
  -0.01710001 0.1999401 1.49644
)");
}

}  // namespace
}  // namespace wherry::ref
