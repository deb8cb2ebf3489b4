// What operators that put in, pick out and order become.
#include <gtest/gtest.h>

#include <algorithm>

#include "importers/paddle/one_op_test_util.h"

namespace wherry::paddle {
namespace {

using Names = std::vector<std::string>;
using Numbers = std::vector<int64_t>;
constexpr int kInt64 = 3;
constexpr int kBool = 0;

TEST(PaddleIndex, SetValueFitsTheValueToThePart) {
  // x[:, 1, ::2] = value, where the picked axis is gone from the value's shape.
  const TestOp op{"set_value",
                  {{"Input", {"x"}}, {"ValueTensor", {"v"}}},
                  {{"Out", {"y"}}},
                  {{"axes", std::vector<int>{1, 2}},
                   {"starts", Numbers{1, 0}},
                   {"ends", Numbers{2, 6}},
                   {"steps", Numbers{1, 2}},
                   {"decrease_axes", Numbers{1}},
                   {"none_axes", Numbers{}}}};
  const Program program = ImportOp({{"x", {2, 4, 6}}, {"v", {2, 3}}}, op);
  EXPECT_EQ(FindOp(program, "unsqueeze").GetAttr<IntArray>("axis"), IntArray({1}));
  EXPECT_EQ(FindOp(program, "set_value").GetAttr<IntArray>("steps"), IntArray({1, 2}));
  EXPECT_EQ(MetaOf(program.Clone()), "f32[2,4,6]");
}

TEST(PaddleIndex, SetValueDropsAddedAxes) {
  TestOp op{"set_value",
            {{"Input", {"x"}}, {"ValueTensor", {"v"}}},
            {{"Out", {"y"}}},
            {{"axes", std::vector<int>{0}},
             {"starts", Numbers{0}},
             {"ends", Numbers{2}},
             {"steps", Numbers{1}},
             {"decrease_axes", Numbers{}},
             {"none_axes", Numbers{0}}}};
  const Program program = ImportOp({{"x", {3, 4}}, {"v", {1, 2, 4}}}, op);
  EXPECT_EQ(FindOp(program, "squeeze").GetAttr<IntArray>("axis"), IntArray({0}));
  // Starts that are only known at run time, and a value in an attribute of an old file.
  op.inputs = {{"Input", {"x"}}, {"StartsTensorList", {"s"}}};
  op.attrs = {{"axes", std::vector<int>{0}},
              {"ends", Numbers{2}},
              {"steps", Numbers{1}},
              {"fp32_values", std::vector<float>{7}},
              {"shape", std::vector<int>{1}}};
  const Program late = ImportOp({{"x", {3, 4}}, {"s", {1}, kInt64}}, op);
  EXPECT_EQ(FindOp(late, "set_value").Input("starts").size(), 1U);
  EXPECT_EQ(MetaOf(late.Clone()), "f32[3,4]");
}

TEST(PaddleIndex, IndexPutByPositionsAndByMask) {
  const auto put = [](const Names& indices) {
    return TestOp{
        "index_put", {{"x", {"x"}}, {"indices", indices}, {"value", {"v"}}}, {{"out", {"y"}}}, {{"accumulate", true}}};
  };
  const Program by_position =
      ImportOp({{"x", {4, 5, 6}}, {"i", {2, 1}, kInt64}, {"j", {3}, kInt64}, {"v", {1}}}, put({"i", "j"}));
  EXPECT_EQ(FindOp(by_position, "scatter_nd").GetAttr<std::string>("reduce"), "add");
  const std::string updates = FindOp(by_position, "scatter_nd").Input("updates")[0];
  EXPECT_EQ(MetaOf(by_position.Clone(), updates), "f32[2,3,6]");
  const Program by_mask = ImportOp({{"x", {4, 5}}, {"m", {4, 5}, kBool}, {"v", {1}}}, put({"m"}));
  EXPECT_TRUE(Has(by_mask, "nonzero"));
  EXPECT_EQ(MetaOf(by_mask.Clone()), "f32[4,5]");
}

TEST(PaddleIndex, ScatterReplacesRowsOrAddsThemUp) {
  const auto scatter = [](bool overwrite) {
    return TestOp{
        "scatter", {{"X", {"x"}}, {"Ids", {"i"}}, {"Updates", {"u"}}}, {{"Out", {"y"}}}, {{"overwrite", overwrite}}};
  };
  const std::vector<Declared> inputs = {{"x", {4, 3}}, {"i", {2}, kInt64}, {"u", {2, 3}}};
  EXPECT_TRUE(Has(ImportOp(inputs, scatter(true)), "scatter_nd"));
  const Program sums = ImportOp(inputs, scatter(false));
  EXPECT_FALSE(FindOp(sums, "put_along_axis").GetAttr<bool>("include_self"));
}

TEST(PaddleIndex, Selections) {
  const Program selected = ImportOp({{"x", {4, 3}}, {"m", {4, 3}, kBool}},
                                    {"masked_select", {{"X", {"x"}}, {"Mask", {"m"}}}, {{"Y", {"y"}}}, {}});
  EXPECT_TRUE(Has(selected, "gather_nd"));
  EXPECT_EQ(MetaOf(ImportOp({{"x", {4, 3}}, {"i", {4, 2}, kInt64}},
                            {"index_sample", {{"X", {"x"}}, {"Index", {"i"}}}, {{"Out", {"y"}}}, {}})),
            "f32[4,2]");
  EXPECT_EQ(
      MetaOf(ImportOp({{"x", {4, 3}}, {"i", {2, 3}, kInt64}},
                      {"take_along_axis", {{"Input", {"x"}}, {"Index", {"i"}}}, {{"Result", {"y"}}}, {{"Axis", 0}}})),
      "f32[2,3]");
}

TEST(PaddleIndex, TheBestOnes) {
  const TestOp op{"top_k_v2", {{"X", {"x"}}}, {{"Out", {"y"}}, {"Indices", {"i"}}}, {{"k", 2}, {"largest", false}}};
  const Program program = ImportOp({{"x", {4, 5}}}, op);
  EXPECT_FALSE(FindOp(program, "topk").GetAttr<bool>("largest"));
  EXPECT_EQ(MetaOf(program.Clone(), 0), "f32[4,2]");
  EXPECT_EQ(MetaOf(program.Clone(), 1), "i64[4,2]");
  const TestOp third{"kthvalue", {{"X", {"x"}}}, {{"Out", {"y"}}, {"Indices", {"i"}}}, {{"k", 3}, {"axis", 0}}};
  EXPECT_EQ(MetaOf(ImportOp({{"x", {4, 5}}}, third), 1), "i64[5]");
}

TEST(PaddleIndex, CountsAndSums) {
  EXPECT_EQ(MetaOf(ImportOp({{"x", {9}}}, {"histogram", {{"X", {"x"}}}, {{"Out", {"y"}}}, {{"bins", 4}}})), "i64[4]");
  EXPECT_EQ(MetaOf(ImportOp({{"x", {2, 3}, kBool}}, {"cumsum", {{"X", {"x"}}}, {{"Out", {"y"}}}, {{"flatten", true}}})),
            "i64[6]");
  const TestOp unique{
      "unique", {{"X", {"x"}}}, {{"Out", {"y"}}, {"Index", {"inverse"}}}, {{"dtype", kInt64}, {"is_sorted", false}}};
  EXPECT_FALSE(FindOp(ImportOp({{"x", {9}}}, unique), "unique").GetAttr<bool>("sorted"));
}

}  // namespace
}  // namespace wherry::paddle
