#include <gtest/gtest.h>

#include "kernels/ref/expect_test_util.h"

namespace wherry::ref {
namespace {

TEST(Cast, RoundsSaturatesAndWraps) {
  ExpectAll(R"(
cast | x = f32[9] 1.9 -1.9 0 300 -300 1e+30 -1e+30 nan inf | dtype = i32 | -> i32[9] 1 -1 0 300 -300 2147483647
  -2147483648 0 2147483647
cast | x = f32[9] 1.9 -1.9 0 300 -300 1e+30 -1e+30 nan inf | dtype = i64 | -> i64[9] 1 -1 0 300 -300
  9223372036854775807 -9223372036854775808 0 9223372036854775807
cast | x = f32[9] 1.9 -1.9 0 300 -300 1e+30 -1e+30 nan inf | dtype = u8 | -> u8[9] 1 0 0 255 0 255 0 0 255
cast | x = f32[9] 1.9 -1.9 0 300 -300 1e+30 -1e+30 nan inf | dtype = i8 | -> i8[9] 1 -1 0 127 -128 127 -128 0 127
cast | x = f32[9] 1.9 -1.9 0 300 -300 1e+30 -1e+30 nan inf | dtype = bool | -> bool[9] 1 1 0 1 1 1 1 1 1
cast | x = i32[3] 300 -1 5 | dtype = u8 | -> u8[3] 44 255 5
cast | x = i64[2] 16777217 -3 | dtype = f32 | -> f32[2] 1.677722e+07 -3
cast | x = bool[2] 1 0 | dtype = f16 | -> f16[2] 1 0
cast | x = f32[3] 1.000977 70000 1e-09 | dtype = f16 | -> f16[3] 1.000977 inf 0
cast | x = u64[1] 18446744073709551615 | dtype = i64 | -> i64[1] -1
)");
}

}  // namespace
}  // namespace wherry::ref
