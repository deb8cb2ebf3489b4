// The seeds of fuzz/paddle_fuzz, which are committed. To write them again:
//   test_importers_paddle --gtest_also_run_disabled_tests --gtest_filter='*WriteSeeds'
#include <gtest/gtest.h>

#include "base/file_test_util.h"
#include "importers/paddle/model_test_util.h"

namespace wherry::paddle {
namespace {

// What paddle_fuzz takes: the length of the model, the model, the parameters.
void WriteSeed(const std::string& name, const std::string& model, const std::string& params) {
  const auto size = static_cast<uint32_t>(model.size());
  WriteText("fuzz/corpus/paddle_fuzz/" + name,
            std::string(reinterpret_cast<const char*>(&size), sizeof(size)) + model + params);
}

TestModel Network() {
  TestModel model;
  model.AddInput("x", {-1, 2, 5, 5});
  model.AddParam("w", {4, 2, 3, 3});
  model.AddParam("b", {4});
  for (const char* name : {"mean", "scale", "variance"}) model.AddParam(name, {4});
  for (const char* name : {"conv", "sum", "norm", "act", "pool"}) model.AddVar(name, {-1, 4, 3, 3});
  const std::vector<int> ones = {1, 1};
  model.AddOp({"conv2d",
               {{"Input", {"x"}}, {"Filter", {"w"}}},
               {{"Output", {"conv"}}},
               {{"strides", ones},
                {"paddings", std::vector<int>{0, 0}},
                {"dilations", ones},
                {"groups", 1},
                {"data_format", std::string("NCHW")}}});
  model.AddOp({"elementwise_add", {{"X", {"conv"}}, {"Y", {"b"}}}, {{"Out", {"sum"}}}, {{"axis", 1}}});
  model.AddOp({"batch_norm",
               {{"X", {"sum"}}, {"Mean", {"mean"}}, {"Variance", {"variance"}}, {"Scale", {"scale"}}, {"Bias", {"b"}}},
               {{"MeanOut", {"mean"}}, {"VarianceOut", {"variance"}}, {"Y", {"norm"}}},
               {{"epsilon", 1e-5F}}});
  model.AddOp({"hard_swish", {{"X", {"norm"}}}, {{"Out", {"act"}}}, {{"offset", 3.0F}}});
  model.AddOp({"pool2d",
               {{"X", {"act"}}},
               {{"Out", {"pool"}}},
               {{"ksize", ones}, {"global_pooling", true}, {"pooling_type", std::string("avg")}}});
  model.AddOp({"shape", {{"Input", {"x"}}}, {{"Out", {"shape"}}}, {}});
  model.AddOp({"slice",
               {{"Input", {"shape"}}},
               {{"Out", {"n"}}},
               {{"axes", std::vector<int>{0}}, {"starts", std::vector<int>{0}}, {"ends", std::vector<int>{1}}}});
  model.AddOp({"fill_constant",
               {},
               {{"Out", {"rest"}}},
               {{"shape", std::vector<int64_t>{1}}, {"str_value", std::string("-1")}, {"value", -1.0F}, {"dtype", 2}}});
  model.AddOp({"reshape2",
               {{"X", {"pool"}}, {"ShapeTensor", {"n", "rest"}}},
               {{"Out", {"flat"}}, {"XShape", {"s"}}},
               {{"shape", std::vector<int>{-1, 4}}}});
  model.AddOp({"softmax", {{"X", {"flat"}}}, {{"Out", {"out"}}}, {{"axis", -1}}});
  model.AddOutput("out");
  return model;
}

TestModel Branches() {
  TestModel model;
  model.AddInput("c", {1}, 0);
  model.AddInput("x", {2});
  for (const char* name : {"t", "f", "y"}) model.AddVar(name, {2});
  model.AddOp({"conditional_block", {{"Cond", {"c"}}}, {{"Out", {"t"}}}, {{"sub_block", TestBlockRef{1}}}});
  model.AddOp({"logical_not", {{"X", {"c"}}}, {{"Out", {"n"}}}, {}});
  model.AddOp({"conditional_block", {{"Cond", {"n"}}}, {{"Out", {"f"}}}, {{"sub_block", TestBlockRef{2}}}});
  model.AddOp({"cast", {{"X", {"c"}}}, {{"Out", {"m"}}}, {{"out_dtype", 2}}});
  model.AddOp({"select_input", {{"X", {"f", "t"}}, {"Mask", {"m"}}}, {{"Out", {"y"}}}, {}});
  model.AddOp({"while", {{"Condition", {"c"}}}, {{"Out", {"y"}}}, {{"sub_block", TestBlockRef{3}}}});
  model.AddOutput("y");
  model.AddOp({"relu", {{"X", {"x"}}}, {{"Out", {"t"}}}, {}}, 1);
  model.AddOp({"scale", {{"X", {"x"}}}, {{"Out", {"f"}}}, {{"scale", 2.0F}, {"bias", 1.0F}}}, 2);
  model.AddOp({"increment", {{"X", {"x"}}}, {{"Out", {"x"}}}, {{"step", 1.0F}}}, 3);
  return model;
}

TEST(PaddleCorpus, SeedsAreWhatTheyShouldBe) {
  const std::string four = ParamRecord({4}, FloatBytes({1, 2, 3, 4}));
  const std::string params = four + four + four + four + ParamRecord({4, 2, 3, 3}, std::string(288, '\0'));
  EXPECT_EQ(ImportBytes(Network().Bytes(), params).weights.count("w"), 1U);
  EXPECT_EQ(ImportBytes(Branches().Bytes()).blocks.size(), 4U);
}

TEST(PaddleCorpus, DISABLED_WriteSeeds) {
  std::filesystem::create_directories("fuzz/corpus/paddle_fuzz");
  const std::string four = ParamRecord({4}, FloatBytes({1, 2, 3, 4}));
  WriteSeed("network", Network().Bytes(),
            four + four + four + four + ParamRecord({4, 2, 3, 3}, std::string(288, '\0')));
  WriteSeed("branches", Branches().Bytes(), "");
  TestModel packed = Branches();
  packed.packed = packed.shuffled = true;
  WriteSeed("shuffled", packed.Bytes(), "");
}

}  // namespace
}  // namespace wherry::paddle
