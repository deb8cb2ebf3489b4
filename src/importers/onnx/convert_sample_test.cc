// Sampling of images.
#include <gtest/gtest.h>

#include "importers/onnx/one_op_test_util.h"

namespace wherry::onnx {
namespace {

using Numbers = std::vector<int64_t>;

TEST(OnnxSample, GridsOfBothNamings) {
  OneOp old = Unary("GridSample", 16, {1, 3, 4, 5});
  old.Input("g", Dims({1, 6, 7, 2})).Attr("mode", std::string("bicubic")).Attr("align_corners", 1);
  const Program program = old.Import();
  EXPECT_EQ(FindOp(program, "grid_sample").GetAttr<std::string>("mode"), "cubic");
  EXPECT_EQ(ResultMeta(program), "f32[1,3,6,7]");
  OneOp volume = Unary("GridSample", 20, {1, 3, 4, 5, 6});
  volume.Input("g", Dims({1, 2, 2, 2, 3}));
  EXPECT_EQ(volume.Summary(), "grid_sample f32[1,3,2,2,2]");
  OneOp cubes = Unary("GridSample", 20, {1, 3, 4, 5, 6});
  cubes.Input("g", Dims({1, 2, 2, 2, 3})).Attr("mode", std::string("cubic"));
  EXPECT_EQ(cubes.ImportError().code(), ErrorCode::kUnsupported);
  OneOp wrong = Unary("GridSample", 16, {1, 3, 4, 5});
  wrong.Input("g", Dims({1, 6, 7, 3}));
  EXPECT_EQ(wrong.ImportError().code(), ErrorCode::kInvalidArgument);
}

TEST(OnnxSample, AffineGridsOfKnownAndUnknownSize) {
  OneOp known = Unary("AffineGrid", 20, {2, 2, 3});
  known.Weight(IntTensor("s", {2, 3, 4, 5}));
  EXPECT_EQ(known.Summary(), "affine_grid f32[2,4,5,2]");
  OneOp unknown = Unary("AffineGrid", 20, {2, 2, 3});
  unknown.Input("s", Dims({4}), kTestInt64);
  EXPECT_EQ(unknown.Summary(), "affine_grid f32[2,d_2,d_3,2]");
}

TEST(OnnxSample, RegionsShiftedByHalfAPixelSinceOpset16) {
  for (const auto& [opset, aligned] : {std::pair<int64_t, bool>{10, false}, {16, true}}) {
    OneOp roi = Unary("RoiAlign", opset, {1, 3, 8, 8});
    roi.Input("r", Dims({5, 4})).Input("b", Dims({5}), kTestInt64).Attr("output_height", 2).Attr("output_width", 3);
    const Program program = roi.Import();
    EXPECT_EQ(FindOp(program, "roi_align").GetAttr<bool>("aligned"), aligned);
    EXPECT_EQ(ResultMeta(program), "f32[5,3,2,3]");
  }
}

TEST(OnnxSample, ColumnsToImage) {
  OneOp fold = Unary("Col2Im", 18, {1, 5, 5});
  fold.Weight(IntTensor("i", {5, 5})).Weight(IntTensor("b", {1, 5}));
  EXPECT_EQ(fold.Summary(), "fold f32[1,1,5,5]");
  OneOp wrong = Unary("Col2Im", 18, {1, 5, 6});
  wrong.Weight(IntTensor("i", {5, 5})).Weight(IntTensor("b", {1, 5}));
  EXPECT_EQ(wrong.ImportError().code(), ErrorCode::kInvalidArgument);
}

TEST(OnnxSample, CentersAreCroppedAndPadded) {
  OneOp known = Unary("CenterCropPad", 18, {20, 8, 3});
  known.Weight(IntTensor("s", {9, 11})).Attr("axes", Numbers{0, 1});
  const Program program = known.Import();
  EXPECT_EQ(FindOp(program, "pad").GetAttr<IntArray>("paddings"), IntArray({-5, 1, 0, -6, 2, 0}));
  EXPECT_EQ(ResultMeta(program), "f32[9,11,3]");
  OneOp symbolic("CenterCropPad", 18);
  symbolic.Input("x", {std::string("H"), 8}).Weight(IntTensor("s", {9, 11}));
  EXPECT_EQ(ResultMeta(symbolic.Import()), "f32[9,11]");
}

TEST(OnnxSample, PadsOfSomeAxesThatATensorGives) {
  OneOp pad = Unary("Pad", 18, {2, 3});
  pad.Input("p", Dims({2}), kTestInt64).Absent().Weight(IntTensor("a", {-1}));
  EXPECT_EQ(pad.Summary().substr(0, 18), "concat gather pad ");
}

}  // namespace
}  // namespace wherry::onnx
