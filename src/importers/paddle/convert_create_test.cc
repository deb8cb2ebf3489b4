// What makes values from nothing, or from a shape.
#include <gtest/gtest.h>

#include "base/error_test_util.h"
#include "importers/paddle/one_op_test_util.h"

namespace wherry::paddle {
namespace {

TestOp BatchSizeLike(int input_dim, int output_dim) {
  return {"fill_constant_batch_size_like",
          {{"Input", {"x"}}},
          {{"Out", {"y"}}},
          {{"shape", std::vector<int>{4, 5, 6}},
           {"input_dim_idx", input_dim},
           {"output_dim_idx", output_dim},
           {"value", 1.5F},
           {"dtype", 5}}};
}

TEST(PaddleCreate, OneDimensionIsTheInputs) {
  EXPECT_EQ(MetaOf(ImportOp({{"x", {2, 3}}}, BatchSizeLike(0, 0))), "f32[2,5,6]");
  EXPECT_EQ(MetaOf(ImportOp({{"x", {2, 3}}}, BatchSizeLike(1, 2))), "f32[4,5,3]");
  EXPECT_EQ(MetaOf(ImportOp({{"x", {-1, 3}}}, BatchSizeLike(0, 1))), "f32[4,x_0,6]");
}

TEST(PaddleCreate, ADimensionThatIsNotThereIsNamed) {
  for (const auto& [from, to] : {std::pair{2, 0}, std::pair{0, 3}, std::pair{-3, 0}, std::pair{0, -4}}) {
    const std::string text = ErrorText([from = from, to = to] { ImportOp({{"x", {2, 3}}}, BatchSizeLike(from, to)); });
    EXPECT_NE(text.find("'fill_constant_batch_size_like'"), std::string::npos) << text;
    EXPECT_NE(text.find("axis"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace wherry::paddle
