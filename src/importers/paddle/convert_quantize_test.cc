// Quantised numbers: how they are rounded, and where their scales lie.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error_test_util.h"
#include "importers/paddle/one_op_test_util.h"

namespace wherry::paddle {
namespace {

TEST(PaddleQuantize, TheTypeOfRoundingDecides) {
  const auto quantize = [](int round_type) {
    return ImportOp({{"x", {2, 3}}}, {"fake_quantize_dequantize_abs_max",
                                      {{"X", {"x"}}},
                                      {{"Out", {"y"}}, {"OutScale", {"s"}}},
                                      {{"bit_length", 4}, {"round_type", round_type}}});
  };
  EXPECT_EQ(FindOp(quantize(0), "clip").GetAttr<Scalar>("min").to<double>(), -8.0);
  EXPECT_TRUE(Has(quantize(0), "round"));
  EXPECT_FALSE(Has(quantize(1), "round"));
  EXPECT_EQ(MetaOf(quantize(1), 0), "f32[2,3]");
  EXPECT_EQ(MetaOf(quantize(1), 1), "f32[1]");
}

TEST(PaddleQuantize, ScalesOfChannels) {
  const Program weights = ImportOp(
      {{"x", {2, 3, 1, 1}, 21}, {"s", {3}}},
      {"dequantize_linear", {{"X", {"x"}}, {"Scale", {"s"}}}, {{"Y", {"y"}}}, {{"bit_length", 8}, {"quant_axis", 1}}});
  EXPECT_EQ(MetaOf(weights), "f32[2,3,1,1]");
  EXPECT_EQ(FindOp(weights, "reshape").GetAttr<IntArray>("shape"), IntArray({1, -1, 1, 1}));
  const Program found = ImportOp({{"x", {2, 3}}}, {"fake_channel_wise_quantize_abs_max",
                                                   {{"X", {"x"}}},
                                                   {{"Out", {"y"}}, {"OutScale", {"s"}}},
                                                   {{"bit_length", 8}, {"quant_axis", 1}}});
  EXPECT_EQ(MetaOf(found, 1), "f32[3]");
}

TEST(PaddleQuantize, AWeightHasTheAxisOfItsScales) {
  const auto import = [](int64_t axis) {
    TestModel model;
    model.AddParam("w", {2, 3});
    model.AddOp({"fake_channel_wise_quantize_dequantize_abs_max",
                 {{"X", {"w"}}},
                 {{"Out", {"y"}}, {"OutScale", {"s"}}},
                 {{"quant_axis", axis}}});
    model.AddOutput("y");
    return ImportBytes(model.Bytes(), ParamRecord({2, 3}, FloatBytes({1, 2, 3, 4, 5, 6})));
  };
  EXPECT_EQ(FindOp(import(1), "dequantize_linear").GetAttr<int>("axis"), 1);
  for (const int64_t axis : {int64_t{2}, int64_t{-3}, int64_t{1} << 40}) {
    const std::string text = ErrorText([&] { import(axis); });
    EXPECT_NE(text.find("the axis is " + std::to_string(axis) + " for an input of rank 2"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace wherry::paddle
