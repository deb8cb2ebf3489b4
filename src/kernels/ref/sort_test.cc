#include <gtest/gtest.h>

#include "kernels/ref/expect_test_util.h"

namespace wherry::ref {
namespace {

TEST(Sort, OrdersWithNanAsTheGreatest) {
  ExpectAll(R"(
topk | x = f32[5] 1 nan 3 -inf 3 | k = 3 | -> f32[3] nan 3 3 -> i64[3] 1 2 4
topk | x = f32[5] 1 nan 3 -inf 3 | k = 5 | largest = false | -> f32[5] -inf 1 3 3 nan -> i64[5] 3 0 2 4 1
topk | x = i32[2,2] 1 2 4 3 | k = 1 | axis = 0 | -> i32[1,2] 4 3 -> i64[1,2] 1 1
topk | x = i32[3,5] -3 -2 -1 0 -2 0 0 -2 -1 -1 -1 0 0 0 -2 | k = 2 | stable = false | -> i32[3,2] 0 -1 0 0 0 0 ->
  i64[3,2] 3 2 1 0 1 3
argsort | x = i64[5] 3 1 2 1 3 | -> i64[5] 1 1 2 3 3 -> i64[5] 1 3 2 0 4
argsort | x = i64[5] 3 1 2 1 3 | descending = true | -> i64[5] 3 3 2 1 1 -> i64[5] 0 4 2 1 3
mode | x = i64[2,4] 2 1 1 2 3 4 5 3 | -> i64[2] 1 3 -> i64[2] 2 3
searchsorted | sequence = f32[4] 1 2 2 5 | values = f32[4] 2 0 6 nan | -> i64[4] 1 0 4 4
searchsorted | sequence = f32[4] 1 2 2 5 | values = f32[2,1] 2 5 | right = true | dtype = i32 | -> i32[2,1] 3 4
searchsorted | sequence = i64[2,2] 1 3 2 4 | values = i64[2,1] 3 3 | -> i64[2,1] 1 1
)");
  EXPECT_NE(ErrorOf("topk | x = i64[2] 0 1 | k = 3 |").find("k is 3"), std::string::npos);
  EXPECT_NE(ErrorOf("mode | x = i64[2,0] |").find("is empty"), std::string::npos);
}

TEST(Sort, UniqueElementsAndSlices) {
  ExpectAll(R"(
unique | x = i64[6] 2 1 1 3 2 2 | -> i64[3] 1 2 3 -> i64[3] 1 0 3 -> i64[6] 1 0 0 2 1 1 -> i64[3] 2 3 1
unique | x = i64[6] 2 1 1 3 2 2 | sorted = false | dtype = i32 | -> i64[3] 2 1 3 -> i32[3] 0 1 3 -> i32[6] 0 1 1 2 0 0 ->
  i32[3] 3 2 1
unique | x = i64[6] 2 1 1 3 2 2 | consecutive = true | -> i64[4] 2 1 3 2 -> i64[4] 0 1 3 4 -> i64[6] 0 1 1 2 3 3 ->
  i64[4] 1 2 1 2
unique | x = i64[2,3] 1 0 1 2 5 2 | axis = [1] | -> i64[2,2] 0 1 5 2 -> i64[2] 1 0 -> i64[3] 1 0 1 -> i64[2] 1 2
unique | x = f32[3] nan 1 nan | -> f32[2] 1 nan -> i64[2] 1 0 -> i64[3] 1 0 1 -> i64[2] 1 2
unique | x = f32[0] | -> f32[0] -> i64[0] -> i64[0] -> i64[0]
)");
}

TEST(Scan, SumsProductsAndExtremes) {
  ExpectAll(R"(
cumsum | x = i64[4] 1 2 3 4 | -> i64[4] 1 3 6 10
cumsum | x = i64[4] 1 2 3 4 | exclusive = true | reverse = true | -> i64[4] 9 7 4 0
cumsum | x = i64[2,2] 1 2 3 4 | axis = 0 | -> i64[2,2] 1 2 4 6
cumsum | x = i64[2,2] 1 2 3 4 | flatten = true | -> i64[4] 1 3 6 10
cumsum | x = i8[2] 100 100 | -> i8[2] 100 -56
cumprod | x = i64[4] 1 2 3 4 | exclusive = true | -> i64[4] 1 1 2 6
logcumsumexp | x = f32[3] 1000 1000 -inf | -> f32[3] 1000 1000.6931 1000.6931
logcumsumexp | x = f32[2] -inf -inf | -> f32[2] -inf -inf
cummax | x = f32[5] 1 3 3 nan 9 | -> f32[5] 1 3 3 nan nan -> i64[5] 0 1 2 3 3
cummin | x = i64[2,2] 1 5 1 4 | axis = 0 | dtype = i32 | -> i64[2,2] 1 5 1 4 -> i32[2,2] 0 0 1 1
)");
}

TEST(Bitwise, MovesBits) {
  ExpectAll(R"(
bitwise_and | x = i32[3] 12 -1 0 | y = i32[] 10 | -> i32[3] 8 10 0
bitwise_or | x = bool[2] 0 1 | y = bool[2] 0 0 | -> bool[2] 0 1
bitwise_xor | x = u8[2] 12 255 | y = u8[2] 10 255 | -> u8[2] 6 0
bitwise_not | x = u8[2] 0 15 | -> u8[2] 255 240
bitwise_left_shift | x = u8[3] 16 16 1 | y = u8[3] 1 4 200 | -> u8[3] 32 0 0
bitwise_right_shift | x = i8[3] -16 -1 64 | y = i8[3] 2 100 3 | -> i8[3] -4 -1 8
bitwise_right_shift | x = i8[2] -16 -1 | y = i8[2] 2 8 | is_arithmetic = false | -> i8[2] 60 0
)");
  EXPECT_NE(ErrorOf("bitwise_left_shift | x = i8[1] 1 | y = i8[1] -1 |").find("moved by -1"), std::string::npos);
}

TEST(Special, HasTheKnownValues) {
  ExpectAll(R"(
erfinv | x = f64[6] 0 0.5 -0.999999 1 -1 1.5 | -> f64[6] 0 0.4769362762044699 -3.4589107372795 inf -inf nan
lgamma | x = f64[4] 0.5 1 10 -1 | -> f64[4] 0.5723649429247001 0 12.801827480081469 inf
digamma | x = f64[4] 1 0.5 -0.5 0 | -> f64[4] -0.5772156649015329 -1.9635100260214235 0.03648997397857652 nan
i0 | x = f64[4] 0 1 -5 30 | -> f64[4] 1 1.2660658777520082 27.239871823604442 781672297823.9775
i0e | x = f64[3] 0 30 -1000 | -> f64[3] 1 0.0731455942643986 0.012617240455891257
i1 | x = f64[3] 0 -1 5 | -> f64[3] 0 -0.565159103992485 24.335642142450524
i1e | x = f64[2] 30 -1000 | -> f64[2] 0.07191648055236665 -0.012610930256928629
atan2 | x = f64[3] 1 -1 0 | y = f64[3] 1 -1 -1 | -> f64[3] 0.7853981633974483 -2.356194490192345 3.141592653589793
heaviside | x = f32[4] -1 0 2 nan | y = f32[] 0.5 | -> f32[4] 0 0.5 1 nan
fmax | x = f32[3] nan 1 nan | y = f32[3] 2 nan nan | -> f32[3] 2 1 nan
)");
}

}  // namespace
}  // namespace wherry::ref
