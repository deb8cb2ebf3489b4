// Detectors' operators: shapes, and what the versions differ in.
#include <gtest/gtest.h>

#include "importers/paddle/one_op_test_util.h"

namespace wherry::paddle {
namespace {

TEST(PaddleDetection, BoxesAreCodedAndDecoded) {
  TestOp coder{"box_coder",
               {{"PriorBox", {"p"}}, {"TargetBox", {"t"}}},
               {{"OutputBox", {"y"}}},
               {{"code_type", std::string("encode_center_size")},
                {"box_normalized", true},
                {"variance", std::vector<float>{0.1F, 0.1F, 0.2F, 0.2F}}}};
  EXPECT_EQ(MetaOf(ImportOp({{"p", {5, 4}}, {"t", {3, 4}}}, coder)), "f32[3,5,4]");
  coder.attrs = {{"code_type", std::string("decode_center_size")}, {"axis", 1}};
  EXPECT_EQ(MetaOf(ImportOp({{"p", {3, 4}}, {"t", {3, 5, 4}}}, coder)), "f32[3,5,4]");
}

TEST(PaddleDetection, OnlyTheFirstVersionIsNeverEmpty) {
  for (const char* type : {"multiclass_nms", "multiclass_nms2", "multiclass_nms3"}) {
    const TestOp nms{type,
                     {{"BBoxes", {"b"}}, {"Scores", {"s"}}},
                     {{"Out", {"y"}}},
                     {{"score_threshold", 0.1F}, {"nms_top_k", 100}, {"keep_top_k", 10}}};
    const Program program = ImportOp({{"b", {2, 7, 4}}, {"s", {2, 3, 7}}}, nms);
    EXPECT_EQ(FindOp(program, "multiclass_nms").GetAttr<bool>("never_empty"), std::string(type) == "multiclass_nms");
  }
}

TEST(PaddleDetection, PriorBoxesFollowFromShapes) {
  const TestOp prior{"prior_box",
                     {{"Input", {"x"}}, {"Image", {"i"}}},
                     {{"Boxes", {"y"}}},
                     {{"min_sizes", std::vector<float>{4, 8}},
                      {"max_sizes", std::vector<float>{8, 16}},
                      {"aspect_ratios", std::vector<float>{1, 2}},
                      {"flip", true}}};
  EXPECT_EQ(MetaOf(ImportOp({{"x", {1, 2, 3, 5}}, {"i", {1, 3, 30, 50}}}, prior)), "f32[3,5,8,4]");
}

TEST(PaddleDetection, AnchorsFollowTheMap) {
  const TestOp anchors{"anchor_generator",
                       {{"Input", {"x"}}},
                       {{"Anchors", {"y"}}},
                       {{"anchor_sizes", std::vector<float>{16, 32}},
                        {"aspect_ratios", std::vector<float>{0.5F, 1, 2}},
                        {"variances", std::vector<float>{0.1F, 0.1F, 0.2F, 0.2F}},
                        {"stride", std::vector<float>{8, 8}},
                        {"offset", 0.5F}}};
  EXPECT_EQ(MetaOf(ImportOp({{"x", {1, 2, 3, 5}}}, anchors)), "f32[3,5,6,4]");
}

}  // namespace
}  // namespace wherry::paddle
