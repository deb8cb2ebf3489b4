#include <gtest/gtest.h>

#include "kernels/ref/expect_test_util.h"

namespace wherry::ref {
namespace {

TEST(Compare, AgreesWithNumPy) {
  ExpectAll(R"(
equal | x = f32[5] 1 2 3 nan 0 | y = f32[5] 2 2 2 nan -0 | -> bool[5] 0 1 0 0 1
equal | x = i64[3,1] 2 0 0 | y = i64[2] 0 2 | -> bool[3,2] 0 1 1 0 1 0
not_equal | x = f32[5] 1 2 3 nan 0 | y = f32[5] 2 2 2 nan -0 | -> bool[5] 1 0 1 1 0
not_equal | x = i64[3,1] 2 2 0 | y = i64[2] 2 1 | -> bool[3,2] 0 1 0 1 1 1
less_than | x = f32[5] 1 2 3 nan 0 | y = f32[5] 2 2 2 nan -0 | -> bool[5] 1 0 0 0 0
less_than | x = i64[3,1] 1 0 1 | y = i64[2] 2 1 | -> bool[3,2] 1 0 1 1 1 0
less_equal | x = f32[5] 1 2 3 nan 0 | y = f32[5] 2 2 2 nan -0 | -> bool[5] 1 1 0 0 1
less_equal | x = i64[3,1] 0 1 0 | y = i64[2] 2 2 | -> bool[3,2] 1 1 1 1 1 1
greater_than | x = f32[5] 1 2 3 nan 0 | y = f32[5] 2 2 2 nan -0 | -> bool[5] 0 0 1 0 0
greater_than | x = i64[3,1] 0 1 2 | y = i64[2] 2 2 | -> bool[3,2] 0 0 0 0 0 0
greater_equal | x = f32[5] 1 2 3 nan 0 | y = f32[5] 2 2 2 nan -0 | -> bool[5] 0 1 1 0 1
greater_equal | x = i64[3,1] 1 0 2 | y = i64[2] 1 0 | -> bool[3,2] 1 1 0 1 1 1
logical_and | x = bool[2,1] 1 0 | y = bool[3] 1 0 1 | -> bool[2,3] 1 0 1 0 0 0
logical_and | x = f32[3] 0 2.5 nan | y = f32[3] nan 0 1 | -> bool[3] 0 0 1
logical_or | x = bool[2,1] 1 0 | y = bool[3] 1 0 1 | -> bool[2,3] 1 1 1 1 0 1
logical_or | x = f32[3] 0 2.5 nan | y = f32[3] nan 0 1 | -> bool[3] 1 1 1
logical_xor | x = bool[2,1] 1 0 | y = bool[3] 1 0 1 | -> bool[2,3] 0 1 0 1 0 1
logical_xor | x = f32[3] 0 2.5 nan | y = f32[3] nan 0 1 | -> bool[3] 1 1 0
where | condition = bool[2,1] 1 0 | x = f32[3] -1.86 0.06 -0.14 | y = f32[] 9 | -> f32[2,3] -1.86 0.06 -0.14 9 9 9
)");
}

}  // namespace
}  // namespace wherry::ref
