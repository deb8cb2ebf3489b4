// Resize and Upsample of all opsets.
#include <gtest/gtest.h>

#include "importers/onnx/one_op_test_util.h"

namespace wherry::onnx {
namespace {

using Numbers = std::vector<int64_t>;

OneOp Image(const std::string& type, int64_t opset) {
  OneOp op(type, opset);
  op.Input("x", {std::string("N"), 3, std::string("H"), std::string("W")});
  return op;
}

TEST(OnnxResize, ScalesOfAxesThatChange) {
  OneOp resize = Image("Resize", 13);
  resize.Absent().Weight(FloatTensor("s", {4}, {1, 1, 2, 1.5F})).Attr("mode", std::string("linear"));
  const Program program = resize.Import();
  const OpDesc& op = FindOp(program, "interpolate");
  EXPECT_EQ(op.GetAttr<Numbers>("axes"), (Numbers{2, 3}));
  EXPECT_EQ(op.GetAttr<std::vector<double>>("scale"), (std::vector<double>{2, 1.5}));
  EXPECT_EQ(op.GetAttr<std::string>("coordinates"), "half_pixel");
  EXPECT_EQ(ResultMeta(program), "f32[N,3,2*H,(W+floor(W/2))]");
  OneOp nothing = Image("Resize", 13);
  nothing.Absent().Weight(FloatTensor("s", {4}, {1, 1, 1, 1}));
  EXPECT_EQ(nothing.Summary(), "assign f32[N,3,H,W]");
}

TEST(OnnxResize, SizesKnownAndNot) {
  OneOp known = Image("Resize", 18);
  known.Absent().Absent().Weight(IntTensor("s", {7, 9})).Attr("axes", Numbers{-2, -1});
  EXPECT_EQ(known.Summary(), "interpolate f32[N,3,7,9]");
  OneOp unknown = Image("Resize", 18);
  unknown.Absent().Absent().Input("s", {2}, kTestInt64).Attr("axes", Numbers{2, 3});
  EXPECT_EQ(unknown.Summary(), "interpolate f32[N,3,d_2,d_3]");
  // An empty tensor stands for scales that are not there.
  OneOp old = Image("Resize", 11);
  old.Weight(FloatTensor("r", {0}, {})).Weight(FloatTensor("e", {0}, {})).Input("s", {4}, kTestInt64);
  EXPECT_EQ(ResultMeta(old.Import()).substr(0, 4), "f32[");
}

TEST(OnnxResize, ScalesOfARun) {
  OneOp resize = Image("Resize", 13);
  resize.Absent().Input("s", {4});
  EXPECT_EQ(resize.Summary().substr(0, 57), "shape gather cast multiply floor cast interpolate f32[d_4");
}

TEST(OnnxResize, AspectRatioAndCrop) {
  OneOp ratio(std::string("Resize"), 18);
  ratio.Input("x", Dims({1, 1, 4, 6})).Absent().Absent().Weight(IntTensor("s", {8, 9}));
  ratio.Attr("axes", Numbers{2, 3}).Attr("keep_aspect_ratio_policy", std::string("not_larger"));
  EXPECT_EQ(ratio.Summary(), "interpolate f32[1,1,6,9]");
  OneOp crop(std::string("Resize"), 13);
  crop.Input("x", Dims({1, 1, 4, 6})).Input("r", {8}).Absent().Weight(IntTensor("s", {1, 1, 3, 3}));
  crop.Attr("coordinate_transformation_mode", std::string("tf_crop_and_resize")).Attr("extrapolation_value", 2.0F);
  const OpDesc op = FindOp(crop.Import(), "interpolate");
  EXPECT_EQ(op.Input("roi"), std::vector<std::string>{"r"});
  EXPECT_EQ(op.GetAttr<double>("extrapolation_value"), 2.0);
}

TEST(OnnxResize, BeforeOpset11) {
  OneOp ten = Image("Resize", 10);
  ten.Weight(FloatTensor("s", {4}, {1, 1, 0.5F, 2}));
  const OpDesc op = FindOp(ten.Import(), "interpolate");
  EXPECT_EQ(op.GetAttr<std::string>("coordinates"), "asymmetric");
  EXPECT_EQ(op.GetAttr<std::string>("nearest_mode"), "simple");
  OneOp nine = Image("Upsample", 9);
  nine.Weight(FloatTensor("s", {4}, {1, 1, 2, 2})).Attr("mode", std::string("linear"));
  EXPECT_EQ(nine.Summary(), "interpolate f32[N,3,2*H,2*W]");
  OneOp seven = Image("Upsample", 7);
  seven.Attr("scales", std::vector<float>{1, 1, 3, 1});
  EXPECT_EQ(seven.Summary(), "interpolate f32[N,3,3*H,W]");
}

TEST(OnnxResize, WhatContradictsItself) {
  OneOp neither = Image("Resize", 13);
  EXPECT_EQ(neither.ImportError().code(), ErrorCode::kCorrupt);
  OneOp few = Image("Resize", 13);
  few.Absent().Weight(FloatTensor("s", {2}, {2, 2}));
  EXPECT_EQ(few.ImportError().code(), ErrorCode::kCorrupt);
  OneOp zero = Image("Resize", 13);
  zero.Absent().Weight(FloatTensor("s", {4}, {1, 1, 0, 2}));
  EXPECT_EQ(zero.ImportError().code(), ErrorCode::kInvalidArgument);
  OneOp huge = Image("Resize", 13);
  huge.Absent().Weight(FloatTensor("s", {4}, {1, 1e30F, 1, 2}));
  EXPECT_EQ(huge.ImportError().code(), ErrorCode::kInvalidArgument);
  OneOp mode = Image("Resize", 13);
  mode.Absent().Weight(FloatTensor("s", {4}, {1, 1, 2, 2})).Attr("mode", std::string("lanczos"));
  EXPECT_EQ(mode.ImportError().code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace wherry::onnx
