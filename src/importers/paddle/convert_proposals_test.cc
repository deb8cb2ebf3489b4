// Proposals, labels and factors: what the operators become, and what cannot be read.
#include <gtest/gtest.h>

#include <limits>

#include "base/error_test_util.h"
#include "importers/paddle/one_op_test_util.h"

namespace wherry::paddle {
namespace {

constexpr int kInt32 = 2;
constexpr int kInt64 = 3;

TEST(PaddleProposals, OneResultForEachLevel) {
  const TestOp distribute{"distribute_fpn_proposals",
                          {{"FpnRois", {"r"}}, {"RoisNum", {"n"}}},
                          {{"MultiFpnRois", {"a", "b", "c"}}, {"RestoreIndex", {"i"}}},
                          {{"min_level", 2}, {"max_level", 4}, {"refer_level", 3}, {"refer_scale", 16}}};
  const Program program = ImportOp({{"r", {6, 4}}, {"n", {2}, kInt32}}, distribute);
  EXPECT_EQ(program.main().outputs.size(), 4U);
  EXPECT_EQ(MetaOf(program, 3), "i32[6,1]");
}

TEST(PaddleProposals, LevelsMustBeInOrder) {
  const TestOp distribute{"distribute_fpn_proposals",
                          {{"FpnRois", {"r"}}},
                          {{"MultiFpnRois", {"a"}}},
                          {{"min_level", 5}, {"max_level", 4}, {"refer_level", 3}, {"refer_scale", 16}}};
  const std::string text = ErrorText([&] { ImportOp({{"r", {6, 4}}}, distribute); });
  EXPECT_NE(text.find("its levels are 5 to 4"), std::string::npos) << text;
}

TEST(PaddleProposals, LevelsFarOutAreRefused) {
  const int64_t least = std::numeric_limits<int64_t>::min();
  for (const auto& [first, refer] : {std::pair{least, int64_t{3}}, std::pair{int64_t{2}, least}}) {
    const TestOp distribute{"distribute_fpn_proposals",
                            {{"FpnRois", {"r"}}},
                            {{"MultiFpnRois", {"a"}}},
                            {{"min_level", first}, {"max_level", 4}, {"refer_level", refer}, {"refer_scale", 16}}};
    const std::string text = ErrorText([&] { ImportOp({{"r", {6, 4}}}, distribute); });
    EXPECT_NE(text.find("one of its levels is -9223372036854775808"), std::string::npos) << text;
  }
}

TEST(PaddleProposals, GeneratedOnesHaveCounts) {
  const TestOp generate{
      "generate_proposals_v2",
      {{"Scores", {"s"}}, {"BboxDeltas", {"d"}}, {"ImShape", {"z"}}, {"Anchors", {"a"}}, {"Variances", {"v"}}},
      {{"RpnRois", {"r"}}, {"RpnRoiProbs", {"p"}}, {"RpnRoisNum", {"n"}}},
      {{"pre_nms_topN", 20}, {"post_nms_topN", 6}, {"nms_thresh", 0.5F}, {"min_size", 1.0F}}};
  const Program program = ImportOp(
      {{"s", {1, 3, 4, 5}}, {"d", {1, 12, 4, 5}}, {"z", {1, 2}}, {"a", {4, 5, 3, 4}}, {"v", {4, 5, 3, 4}}}, generate);
  EXPECT_EQ(FindOp(program, "generate_proposals").GetAttr<int64_t>("post_nms_top_n"), 6);
}

TEST(PaddleProposals, BoxesAreClippedToOneImage) {
  const TestOp clip{"box_clip", {{"Input", {"b"}}, {"ImInfo", {"i"}}}, {{"Output", {"y"}}}, {}};
  const Program program = ImportOp({{"b", {7, 4}}, {"i", {1, 3}}}, clip);
  EXPECT_EQ(MetaOf(program), "f32[7,4]");
  // Edges at width - 1 and height - 1 of the image before it was scaled.
  EXPECT_EQ(MetaOf(program, FindOp(program, "concat").Output("out")[0]), "f32[4]");
  EXPECT_TRUE(Has(program, "round"));
  const std::string text = ErrorText([&] { ImportOp({{"b", {7, 4}}, {"i", {2, 3}}}, clip); });
  EXPECT_NE(text.find("it clips to several images"), std::string::npos) << text;
}

TEST(PaddleDecode, SequencesNeedLengthsOfTheirOwn) {
  const TestOp with{"ctc_align",
                    {{"Input", {"x"}}, {"InputLength", {"n"}}},
                    {{"Output", {"y"}}, {"OutputLength", {"m"}}},
                    {{"blank", 0}, {"padding_value", -1}}};
  EXPECT_EQ(MetaOf(ImportOp({{"x", {2, 5}, kInt32}, {"n", {2, 1}, kInt32}}, with)), "i32[2,5]");
  const TestOp without{"ctc_align", {{"Input", {"x"}}}, {{"Output", {"y"}}}, {{"blank", 0}}};
  const std::string text = ErrorText([&] { ImportOp({{"x", {2, 5}, kInt32}}, without); });
  EXPECT_NE(text.find("LoD"), std::string::npos) << text;
}

TEST(PaddleConcat, AnAxisAtRunTimeIsABranch) {
  const TestOp concat{"concat", {{"X", {"x", "y"}}, {"AxisTensor", {"a"}}}, {{"Out", {"z"}}}, {{"axis", 0}}};
  const Program program = ImportOp({{"x", {2, 3}}, {"y", {2, 3}}, {"a", {1}, kInt64}}, concat);
  EXPECT_TRUE(Has(program, "if"));
}

TEST(PaddlePool, ASizeThatWasNotGivenIsTheInputs) {
  const TestOp pool{"pool2d",
                    {{"X", {"x"}}},
                    {{"Out", {"y"}}},
                    {{"ksize", std::vector<int>{1, -1}}, {"adaptive", true}, {"pooling_type", std::string("avg")}}};
  EXPECT_EQ(MetaOf(ImportOp({{"x", {2, 3, 5, 7}}}, pool)), "f32[2,3,1,7]");
  const Program dynamic = ImportOp({{"x", {2, 3, 5, -1}}}, pool);
  EXPECT_EQ(MetaOf(dynamic), "f32[2,3,1,x_3]");
}

TEST(PaddlePool, WindowsBeyondTheEdgeNeedAnImage) {
  const TestOp pool{"pool2d",
                    {{"X", {"x"}}},
                    {{"Out", {"y"}}},
                    {{"ksize", std::vector<int>{2, 2}}, {"pooling_type", std::string("max")}, {"ceil_mode", true}}};
  const std::string text = ErrorText([&] { ImportOp({{"x", {4, 5}}}, pool); });
  EXPECT_NE(text.find("'pool2d'"), std::string::npos) << text;
  EXPECT_NE(text.find("[4,5]"), std::string::npos) << text;
}

TEST(PaddleVersion, IsShown) {
  TestModel model;
  model.version = 2006002;
  model.AddInput("x", {2});
  model.AddOp({"relu", {{"X", {"x"}}}, {{"Out", {"y"}}}, {}});
  model.AddOutput("y");
  EXPECT_EQ(ImportBytes(model.Bytes()).metadata.at("paddle_version"), "2.6.2");
}

TEST(PaddleReduce, TheSumOfI32IsI64UnlessTheFileSaysOtherwise) {
  TestOp sum{"reduce_sum", {{"X", {"x"}}}, {{"Out", {"y"}}}, {{"dim", std::vector<int>{1}}}};
  EXPECT_EQ(MetaOf(ImportOp({{"x", {2, 3}, kInt32}}, sum)), "i64[2]");
  sum.attrs.emplace_back("out_dtype", kInt32);
  EXPECT_EQ(MetaOf(ImportOp({{"x", {2, 3}, kInt32}}, sum)), "i32[2]");
}

}  // namespace
}  // namespace wherry::paddle
