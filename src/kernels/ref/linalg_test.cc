#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "base/check.h"
#include "kernels/ref/expect_test_util.h"

namespace wherry::ref {
namespace {

TEST(Dft, TransformsBothWays) {
  ExpectAll(R"(
dft | x = f64[4,1] 1 2 3 4 | -> f64[4,2] 10 0 -2 2 -2 0 -2 -2
dft | x = f64[4,1] 1 2 3 4 | onesided = true | -> f64[3,2] 10 0 -2 2 -2 0
dft | x = f64[4,2] 10 0 -2 2 -2 0 -2 -2 | inverse = true | -> f64[4,2] 1 0 2 0 3 0 4 0
dft | x = f64[3,2] 10 0 -2 2 -2 0 | inverse = true | onesided = true | -> f64[4,1] 1 2 3 4
dft | x = f64[3,1] 1 1 1 | length = 2 | -> f64[2,2] 2 0 0 0
dft | x = f64[2,1] 1 1 | length = 6 | -> f64[6,2] 2 0 1.5 -0.8660254037844386 0.5 -0.8660254037844386 0 0
  0.5 0.8660254037844386 1.5 0.8660254037844386
dft | x = f64[2,2,1] 1 2 3 4 | axis = 0 | -> f64[2,2,2] 4 0 6 0 -2 0 -2 0
)");
  EXPECT_NE(ErrorOf("dft | x = f64[2,3] 1 2 3 4 5 6 |").find("a last dimension of 1 or 2"), std::string::npos);
}

// Lengths with a prime factor of more than 64, one of them too long for a sum per element (it would take minutes).
TEST(Dft, TransformsLargePrimes) {
  for (const int64_t length : {67, 2 * 71, 67 * 67, 99991}) {
    for (const bool inverse : {false, true}) {
      // A one at position 1 becomes the roots of unity.
      std::string x;
      std::string expected;
      const double scale = inverse ? 1.0 / static_cast<double>(length) : 1.0;
      for (int64_t i = 0; i < length; ++i) {
        const double angle = 2.0 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(length);
        x += i == 1 ? " 1 0" : " 0 0";
        expected += StrCat(" ", scale * std::cos(angle), " ", (inverse ? scale : -scale) * std::sin(angle));
      }
      ExpectAll(StrCat("dft | x = f64[", length, ",2]", x, " | inverse = ", inverse ? "true" : "false", " | -> f64[",
                       length, ",2]", expected, "\n"));
    }
  }
}

TEST(Linalg, SolvesAndFactors) {
  ExpectAll(R"(
det | x = f64[3,3] 0 2 1 4 1 0 1 1 1 | -> f64[] -5
slogdet | x = f64[2,2,2] 0 2 1 0 1 1 1 1 | -> f64[2] -1 0 -> f64[2] 0.6931471805599453 -inf
inverse | x = f64[2,2] 0 2 1 0 | -> f64[2,2] 0 1 0.5 0
cholesky | x = f64[2,2] 4 9 2 5 | -> f64[2,2] 2 0 1 2
cholesky | x = f64[2,2] 4 2 9 5 | upper = true | -> f64[2,2] 2 1 0 2
solve | x = f64[2,2] 0 2 1 0 | y = f64[2,1] 4 3 | -> f64[2,1] 3 2
triangular_solve | x = f64[2,2] 2 1 9 4 | y = f64[2,1] 4 8 | -> f64[2,1] 1 2
triangular_solve | x = f64[2,2] 2 1 9 4 | y = f64[2,1] 4 8 | transpose = true | -> f64[2,1] 2 1.5
triangular_solve | x = f64[2,2] 2 9 1 4 | y = f64[2,1] 4 8 | upper = false | unitriangular = true | -> f64[2,1] 4 4
eigvalsh | x = f64[2,2] 2 9 1 2 | -> f64[2] 1 3
eigvalsh | x = f64[2,2] 2 1 9 2 | uplo = "U" | -> f64[2] 1 3
)");
  EXPECT_NE(ErrorOf("inverse | x = f64[2,2] 1 2 2 4 |").find("has no inverse"), std::string::npos);
  EXPECT_NE(ErrorOf("cholesky | x = f64[1,1] -1 |").find("not positive definite"), std::string::npos);
  EXPECT_NE(ErrorOf("det | x = f64[2,3] 1 2 3 4 5 6 |").find("square matrices"), std::string::npos);
}

TEST(Diagonal, TakesAndPuts) {
  ExpectAll(R"(
diagonal | x = i64[2,3] 0 1 2 3 4 5 | -> i64[2] 0 4
diagonal | x = i64[2,3] 0 1 2 3 4 5 | offset = -1 | -> i64[1] 3
diagonal | x = i64[2,2,2] 0 1 2 3 4 5 6 7 | axis1 = 0 | axis2 = 2 | -> i64[2,2] 0 5 2 7
diag_embed | x = i64[2] 1 2 | offset = 1 | -> i64[3,3] 0 1 0 0 0 2 0 0 0
diag_embed | x = i64[2] 1 2 | fill = 7 | -> i64[2,2] 1 7 7 2
tril_triu | x = i64[2,3] 1 2 3 4 5 6 | -> i64[2,3] 1 0 0 4 5 0
tril_triu | x = i64[2,3] 1 2 3 4 5 6 | diagonal = 1 | lower = false | -> i64[2,3] 0 2 3 0 0 6
linspace | start = 0 | stop = 1 | num = 5 | -> f32[5] 0 0.25 0.5 0.75 1
)");
}

}  // namespace
}  // namespace wherry::ref
