// Views: the same elements under another shape, type or order.
#include <gtest/gtest.h>

#include "base/error_test_util.h"
#include "importers/paddle/one_op_test_util.h"

namespace wherry::paddle {
namespace {

using Numbers = std::vector<int64_t>;

TEST(PaddleView, TypesOfOtherWidthsChangeTheLastDimension) {
  const auto seen_as = [](int dtype) {
    return MetaOf(ImportOp({{"x", {2, 6}}}, {"view_dtype", {{"input", {"x"}}}, {{"out", {"y"}}}, {{"dtype", dtype}}}));
  };
  EXPECT_EQ(seen_as(2), "i32[2,6]");
  EXPECT_EQ(seen_as(1), "i16[2,12]");
  EXPECT_EQ(seen_as(3), "i64[2,3]");
}

TEST(PaddleView, StridesAndWindows) {
  const TestOp strided{"as_strided",
                       {{"input", {"x"}}},
                       {{"out", {"y"}}},
                       {{"dims", Numbers{2, 3}}, {"stride", Numbers{1, 2}}, {"offset", int64_t{4}}}};
  EXPECT_EQ(MetaOf(ImportOp({{"x", {4, 3}}}, strided)), "f32[2,3]");
  const TestOp windows{"tensor_unfold",
                       {{"input", {"x"}}},
                       {{"out", {"y"}}},
                       {{"axis", int64_t{-1}}, {"size", int64_t{3}}, {"step", int64_t{2}}}};
  EXPECT_EQ(FindOp(ImportOp({{"x", {2, 7}}}, windows), "transpose").GetAttr<Numbers>("perm"), (Numbers{0, 1, 2}));
}

// An empty or missing list is not ONNX's reverse of all axes.
TEST(PaddleTranspose, NamesEveryAxis) {
  TestOp op{"transpose2", {{"X", {"x"}}}, {{"Out", {"y"}}}, {{"axis", std::vector<int>{1, 0}}}};
  EXPECT_EQ(MetaOf(ImportOp({{"x", {2, 7}}}, op)), "f32[7,2]");
  op.attrs[0].second = std::vector<int>{};
  const std::string empty = ErrorText([&] { ImportOp({{"x", {2, 7}}}, op); });
  EXPECT_NE(empty.find("it names no axis of an input of rank 2"), std::string::npos) << empty;
  op.attrs.clear();
  const std::string missing = ErrorText([&] { ImportOp({{"x", {2, 7}}}, op); });
  EXPECT_NE(missing.find("attribute axis is missing"), std::string::npos) << missing;
}

}  // namespace
}  // namespace wherry::paddle
