// Sampling of images and moving them about.
#include <gtest/gtest.h>

#include "importers/paddle/model_test_util.h"

namespace wherry::paddle {
namespace {

using Numbers = std::vector<int64_t>;

Program ImportOp(TestModel model, const TestOp& op) {
  model.AddOp(op);
  model.AddOutput("y");
  return ImportBytes(model.Bytes());
}

TestModel WithInput(const Numbers& dims) {
  TestModel model;
  model.AddInput("x", dims);
  return model;
}

std::string ResultText(Program program) {
  const std::string output = program.main().outputs[0];
  InferProgram(&program);
  return program.main().values.at(output).DebugString();
}

TEST(PaddleSample, Grids) {
  TestModel model = WithInput({1, 3, 4, 5});
  model.AddInput("g", {1, 6, 7, 2});
  const Program program = ImportOp(
      model,
      {"grid_sampler", {{"X", {"x"}}, {"Grid", {"g"}}}, {{"Output", {"y"}}}, {{"mode", std::string("nearest")}}});
  EXPECT_EQ(FindOp(program, "grid_sample").GetAttr<std::string>("mode"), "nearest");
  EXPECT_TRUE(FindOp(program, "grid_sample").GetAttr<bool>("align_corners"));
  EXPECT_EQ(ResultText(program.Clone()), "f32[1,3,6,7]");
  EXPECT_EQ(
      ResultText(ImportOp(
          WithInput({2, 2, 3}),
          {"affine_grid", {{"Theta", {"x"}}}, {{"Output", {"y"}}}, {{"output_shape", std::vector<int>{2, 3, 4, 5}}}})),
      "f32[2,4,5,2]");
}

TEST(PaddleSample, Regions) {
  TestModel model = WithInput({2, 3, 8, 8});
  model.AddInput("r", {5, 4});
  model.AddInput("n", {2}, 2);
  EXPECT_EQ(ResultText(ImportOp(model, {"roi_align",
                                        {{"X", {"x"}}, {"ROIs", {"r"}}, {"RoisNum", {"n"}}},
                                        {{"Out", {"y"}}},
                                        {{"pooled_height", 2}, {"pooled_width", 3}, {"aligned", true}}})),
            "f32[5,3,2,3]");
}

TEST(PaddleSample, Patches) {
  const std::vector<std::pair<std::string, TestAttr>> attrs = {{"kernel_sizes", std::vector<int>{3, 2}},
                                                               {"strides", std::vector<int>{2, 1}},
                                                               {"paddings", std::vector<int>{1, 0, 1, 2}},
                                                               {"dilations", std::vector<int>{1, 2}}};
  EXPECT_EQ(ResultText(ImportOp(WithInput({1, 2, 6, 7}), {"unfold", {{"X", {"x"}}}, {{"Y", {"y"}}}, attrs})),
            "f32[1,12,21]");
  auto fold = attrs;
  fold.emplace_back("output_sizes", std::vector<int>{6, 7});
  EXPECT_EQ(ResultText(ImportOp(WithInput({1, 12, 21}), {"fold", {{"X", {"x"}}}, {{"Y", {"y"}}}, fold})),
            "f32[1,2,6,7]");
}

TEST(PaddleSample, RollsAndShifts) {
  EXPECT_EQ(
      ResultText(ImportOp(WithInput({-1, 4}),
                          {"roll", {{"X", {"x"}}}, {{"Out", {"y"}}}, {{"shifts", Numbers{3}}, {"axis", Numbers{0}}}})),
      ResultText(ImportOp(WithInput({-1, 4}), {"relu", {{"X", {"x"}}}, {{"Out", {"y"}}}, {}})));
  EXPECT_EQ(ResultText(ImportOp(
                WithInput({6, 8, 2, 3}),
                {"temporal_shift", {{"X", {"x"}}}, {{"Out", {"y"}}}, {{"seg_num", 3}, {"shift_ratio", 0.25F}}})),
            "f32[6,8,2,3]");
}

}  // namespace
}  // namespace wherry::paddle
