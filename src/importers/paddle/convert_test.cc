// What single operators become.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/file_test_util.h"
#include "importers/paddle/model_test_util.h"

namespace wherry::paddle {
namespace {

// A model of one operator. Inputs are declared before; outputs have no declared shape unless AddVar gave one.
Program ImportOp(TestModel model, const TestOp& op, const std::string& out) {
  model.AddOp(op);
  model.AddOutput(out);
  return ImportBytes(model.Bytes());
}

TestModel WithInput(const std::vector<int64_t>& dims, int dtype = 5) {
  TestModel model;
  model.AddInput("x", dims, dtype);
  return model;
}

std::vector<std::string> Types(const Program& program) {
  std::vector<std::string> types;
  for (const OpDesc& op : program.main().ops) types.push_back(op.Type());
  return types;
}
using Names = std::vector<std::string>;
using Numbers = std::vector<int64_t>;

MetaTensor ResultMeta(Program program) {
  const std::string output = program.main().outputs[0];
  InferProgram(&program);
  return program.main().values.at(output);
}

TEST(PaddleConvert, ElementwiseAxisAlignsTheSecondOperand) {
  TestModel model = WithInput({2, 3, 4, 5});
  model.AddInput("b", {3});
  const Program program =
      ImportOp(model, {"elementwise_add", {{"X", {"x"}}, {"Y", {"b"}}}, {{"Out", {"y"}}}, {{"axis", 1}}}, "y");
  EXPECT_EQ(Types(program), (Names{"unsqueeze", "add"}));
  EXPECT_EQ(FindOp(program, "unsqueeze").GetAttr<IntArray>("axis"), IntArray({1, 2}));
  EXPECT_EQ(ResultMeta(program.Clone()).DebugString(), "f32[2,3,4,5]");
}

TEST(PaddleConvert, ElementwiseAxisAtTheEndNeedsNothing) {
  TestModel model = WithInput({2, 3});
  model.AddInput("b", {3});
  EXPECT_EQ(
      Types(ImportOp(model, {"elementwise_mul", {{"X", {"x"}}, {"Y", {"b"}}}, {{"Out", {"y"}}}, {{"axis", 1}}}, "y")),
      Names{"multiply"});
}

TEST(PaddleConvert, ConvolutionWithChannelsLast) {
  TestModel model = WithInput({1, 8, 9, 4});
  model.AddInput("w", {6, 2, 3, 3});
  const TestOp conv{"conv2d",
                    {{"Input", {"x"}}, {"Filter", {"w"}}},
                    {{"Output", {"y"}}},
                    {{"strides", std::vector<int>{2, 2}},
                     {"paddings", std::vector<int>{1, 0, 2, 1}},
                     {"padding_algorithm", std::string("EXPLICIT")},
                     {"dilations", std::vector<int>{1, 1}},
                     {"groups", 2},
                     {"data_format", std::string("NHWC")}}};
  const Program program = ImportOp(model, conv, "y");
  EXPECT_EQ(Types(program), (Names{"transpose", "conv2d", "transpose"}));
  EXPECT_EQ(FindOp(program, "conv2d").GetAttr<Numbers>("paddings"), (Numbers{1, 0, 2, 1}));
  EXPECT_EQ(program.main().ops[0].GetAttr<Numbers>("perm"), (Numbers{0, 3, 1, 2}));
  EXPECT_EQ(program.main().ops[2].GetAttr<Numbers>("perm"), (Numbers{0, 2, 3, 1}));
  EXPECT_EQ(ResultMeta(program.Clone()).DebugString(), "f32[1,4,5,6]");
}

TEST(PaddleConvert, TransposedConvolution) {
  TestModel model = WithInput({1, 4, 5, 6});
  model.AddInput("w", {4, 3, 3, 3});
  TestOp conv{"depthwise_conv2d_transpose",
              {{"Input", {"x"}}, {"Filter", {"w"}}},
              {{"Output", {"y"}}},
              {{"strides", std::vector<int>{2, 2}},
               {"paddings", std::vector<int>{1, 1}},
               {"output_size", std::vector<int>{10, 11}},
               {"groups", 2}}};
  EXPECT_EQ(ResultMeta(ImportOp(model, conv, "y")).DebugString(), "f32[1,6,10,11]");
  conv.attrs = {{"strides", std::vector<int>{2, 2}},
                {"output_size", std::vector<int>{}},
                {"output_padding", std::vector<int>{1, 0}}};
  EXPECT_EQ(ResultMeta(ImportOp(model, conv, "y")).DebugString(), "f32[1,3,12,13]");
  // Padded as the convolution of an image of 5 x 6 with this kernel: by 2 and 1.
  conv.attrs = {{"strides", std::vector<int>{2, 2}}, {"padding_algorithm", std::string("SAME")}};
  EXPECT_EQ(ResultMeta(ImportOp(model, conv, "y")).DebugString(), "f32[1,3,9,12]");
}

TEST(PaddleConvert, VolumesWithChannelsLast) {
  TestModel model = WithInput({1, 4, 5, 6, 2});
  model.AddInput("w", {3, 2, 2, 2, 2});
  const TestOp conv{"conv3d",
                    {{"Input", {"x"}}, {"Filter", {"w"}}},
                    {{"Output", {"y"}}},
                    {{"strides", std::vector<int>{1, 2, 2}}, {"data_format", std::string("NDHWC")}}};
  EXPECT_EQ(ResultMeta(ImportOp(model, conv, "y")).DebugString(), "f32[1,3,2,3,3]");
  const TestOp pool{"pool3d",
                    {{"X", {"x"}}},
                    {{"Out", {"y"}}},
                    {{"ksize", std::vector<int>{2, 2, 2}},
                     {"pooling_type", std::string("avg")},
                     {"data_format", std::string("NDHWC")}}};
  EXPECT_EQ(ResultMeta(ImportOp(model, pool, "y")).DebugString(), "f32[1,3,4,5,2]");
}

TEST(PaddleConvert, MaximaWithTheirPlaces) {
  TestModel model = WithInput({1, 2, 6, 6});
  const TestOp pool{"max_pool2d_with_index",
                    {{"X", {"x"}}},
                    {{"Out", {"y"}}, {"Mask", {"m"}}},
                    {{"ksize", std::vector<int>{2, 3}}, {"strides", std::vector<int>{2, 3}}}};
  EXPECT_EQ(ResultMeta(ImportOp(model, pool, "m")).DebugString(), "i32[1,2,3,2]");
  model = WithInput({1, 2, 3, 3});
  model.AddInput("m", {1, 2, 3, 3}, 2);
  const TestOp unpool{"unpool",
                      {{"X", {"x"}}, {"Indices", {"m"}}},
                      {{"Out", {"y"}}},
                      {{"ksize", std::vector<int>{2, 2}}, {"output_size", std::vector<int>{6, 7}}}};
  EXPECT_EQ(ResultMeta(ImportOp(model, unpool, "y")).DebugString(), "f32[1,2,6,7]");
}

TEST(PaddleConvert, DeformableConvolutionOfVersionOneHasNoMask) {
  TestModel model = WithInput({1, 2, 5, 6});
  model.AddInput("o", {1, 8, 4, 5});
  model.AddInput("w", {3, 2, 2, 2});
  const TestOp conv{
      "deformable_conv_v1", {{"Input", {"x"}}, {"Offset", {"o"}}, {"Filter", {"w"}}}, {{"Output", {"y"}}}, {}};
  EXPECT_EQ(ResultMeta(ImportOp(model, conv, "y")).DebugString(), "f32[1,3,4,5]");
}

TEST(PaddleConvert, WhatIsBuiltFromOthers) {
  TestModel rows = WithInput({2, 6, 4});
  rows.AddInput("w", {3, 4});
  EXPECT_EQ(ResultMeta(ImportOp(rows, {"row_conv", {{"X", {"x"}}, {"Filter", {"w"}}}, {{"Out", {"y"}}}, {}}, "y"))
                .DebugString(),
            "f32[2,6,4]");
  EXPECT_EQ(
      ResultMeta(ImportOp(WithInput({1, 7, 3, 3}), {"lrn", {{"X", {"x"}}}, {{"Out", {"y"}}}, {}}, "y")).DebugString(),
      "f32[1,7,3,3]");
  TestModel norm = WithInput({3, 4, 5});
  norm.AddInput("u", {4});
  norm.AddInput("v", {15});
  const TestOp spectral{"spectral_norm",
                        {{"Weight", {"x"}}, {"U", {"u"}}, {"V", {"v"}}},
                        {{"Out", {"y"}}},
                        {{"dim", 1}, {"power_iters", 2}}};
  EXPECT_EQ(ResultMeta(ImportOp(norm, spectral, "y")).DebugString(), "f32[3,4,5]");
  const TestOp pool{
      "lp_pool2d", {{"x", {"x"}}}, {{"out", {"y"}}}, {{"kernel_size", std::vector<int>{2, 2}}, {"norm_type", 3.0F}}};
  EXPECT_EQ(Types(ImportOp(WithInput({1, 2, 3, 3}), pool, "y")),
            (Names{"elementwise_pow", "pool2d", "elementwise_pow"}));
}

TEST(PaddleConvert, PoolingTakesItsWindowFromAnAttribute) {
  const TestOp pool{"pool2d",
                    {{"X", {"x"}}},
                    {{"Out", {"y"}}},
                    {{"ksize", std::vector<int>{3, 2}},
                     {"strides", std::vector<int>{2, 2}},
                     {"pooling_type", std::string("avg")},
                     {"exclusive", false}}};
  const Program program = ImportOp(WithInput({1, 2, 9, 8}), pool, "y");
  const OpDesc& op = FindOp(program, "pool2d");
  EXPECT_EQ(op.GetAttr<IntArray>("kernel_size"), IntArray({3, 2}));
  EXPECT_EQ(op.GetAttr<std::string>("pooling_type"), "avg");
  EXPECT_FALSE(op.GetAttr<bool>("exclusive"));
}

TEST(PaddleConvert, LayersOfRecurrentCells) {
  TestModel model = WithInput({7, 2, 5});
  Names states = {"h", "c"};
  for (const std::string& state : states) model.AddInput(state, {4, 2, 3});
  Names weights;
  for (const bool bias : {false, true}) {
    for (int i = 0; i < 8; ++i) {
      weights.push_back((bias ? "b" : "w") + std::to_string(i));
      const int64_t inputs = i < 4 ? 5 : 6;
      model.AddInput(weights.back(), bias ? Numbers{12} : Numbers{12, i % 2 == 0 ? inputs : 3});
    }
  }
  TestOp rnn{"rnn",
             {{"Input", {"x"}}, {"PreState", states}, {"WeightList", weights}},
             {{"Out", {"y"}}, {"State", {"h1", "c1"}}, {"Reserve", {"reserve"}}},
             {{"mode", std::string("LSTM")}, {"num_layers", 2}, {"hidden_size", 3}, {"is_bidirec", true}}};
  const Program program = ImportOp(model, rnn, "y");
  EXPECT_EQ(ResultMeta(program.Clone()).DebugString(), "f32[7,2,6]");
  EXPECT_EQ(ResultMeta(ImportOp(model, rnn, "c1")).DebugString(), "f32[4,2,3]");
  const Names types = Types(program);
  EXPECT_EQ(std::count(types.begin(), types.end(), "rnn"), 2);
  // i f c o there, i o f c here.
  std::vector<IntArray> starts;
  for (const OpDesc& op : program.main().ops) {
    if (op.Type() == "slice" && op.Input("x")[0] == "w1") starts.push_back(op.GetAttr<IntArray>("starts"));
  }
  EXPECT_EQ(starts, (std::vector<IntArray>{IntArray({0}), IntArray({9}), IntArray({3}), IntArray({6})}));
  rnn.attrs[0].second = std::string("SRU");
  EXPECT_NE(ErrorOf([&] { ImportOp(model, rnn, "y"); }).message().find("mode is 'SRU'"), std::string::npos);
}

TEST(PaddleConvert, BatchNormKeepsTheStatistics) {
  TestModel model = WithInput({1, 2, 3, 3});
  for (const char* name : {"mean", "variance", "scale", "bias"}) model.AddInput(name, {2});
  model.AddOp({"batch_norm",
               {{"X", {"x"}}, {"Mean", {"mean"}}, {"Variance", {"variance"}}, {"Scale", {"scale"}}, {"Bias", {"bias"}}},
               {{"MeanOut", {"mean"}},
                {"VarianceOut", {"variance"}},
                {"SavedMean", {"sm"}},
                {"SavedVariance", {"sv"}},
                {"Y", {"y"}}},
               {{"epsilon", 1e-3F}}});
  model.AddOp({"elementwise_add", {{"X", {"mean"}}, {"Y", {"variance"}}}, {{"Out", {"s"}}}, {}});
  model.AddOutput("y");
  model.AddOutput("s");
  const Program program = ImportBytes(model.Bytes());
  EXPECT_EQ(program.main().outputs, (Names{"y", "s"}));
  EXPECT_EQ(FindOp(program, "add").Input("x"), Names{"mean"});
  EXPECT_NEAR(FindOp(program, "batch_norm").GetAttr<double>("epsilon"), 1e-3, 1e-9);
  // What training alone computes may not be read.
  model.AddOp({"relu", {{"X", {"sm"}}}, {{"Out", {"r"}}}, {}});
  const Error error = ErrorOf([&] { ImportBytes(model.Bytes()); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_NE(error.message().find("'sm'"), std::string::npos) << error.message();
}

TEST(PaddleConvert, ShapesComeFromAttributesTensorsOrLists) {
  TestModel model = WithInput({2, 6});
  Program program = ImportOp(
      model, {"reshape2", {{"X", {"x"}}}, {{"XShape", {"s"}}, {"Out", {"y"}}}, {{"shape", std::vector<int>{3, -1}}}},
      "y");
  EXPECT_EQ(FindOp(program, "reshape").GetAttr<IntArray>("shape"), IntArray({3, -1}));
  EXPECT_EQ(program.main().outputs, Names{"y"});

  model.AddInput("n", {2}, 3);
  program = ImportOp(
      model, {"reshape2", {{"X", {"x"}}, {"Shape", {"n"}}}, {{"Out", {"y"}}}, {{"shape", std::vector<int>{-1}}}}, "y");
  EXPECT_EQ(FindOp(program, "reshape").Input("shape"), Names{"n"});

  model.AddInput("a", {1}, 2);
  model.AddOp(
      {"fill_constant", {}, {{"Out", {"four"}}}, {{"shape", std::vector<int64_t>{1}}, {"value", 4.0F}, {"dtype", 2}}});
  const TestOp listed{"reshape2",
                      {{"X", {"x"}}, {"ShapeTensor", {"four", "a"}}},
                      {{"Out", {"y"}}},
                      {{"shape", std::vector<int>{-1, -1}}}};
  program = ImportOp(model, listed, "y");
  EXPECT_EQ(FindOp(program, "reshape").Input("shape"), FindOp(program, "concat").Output("out"));

  model.AddOp({"fill_constant",
               {},
               {{"Out", {"three"}}},
               {{"shape", std::vector<int64_t>{1}}, {"value", 0.0F}, {"str_value", std::string("3")}, {"dtype", 3}}});
  const TestOp constant{"reshape2", {{"X", {"x"}}, {"ShapeTensor", {"four", "three"}}}, {{"Out", {"y"}}}, {}};
  program = ImportOp(model, constant, "y");
  EXPECT_EQ(FindOp(program, "reshape").GetAttr<IntArray>("shape"), IntArray({4, 3}));
  EXPECT_TRUE(program.weights.empty());  // constants that became attributes are gone
}

TEST(PaddleConvert, SliceDropsAxes) {
  const TestOp slice{"slice",
                     {{"Input", {"x"}}},
                     {{"Out", {"y"}}},
                     {{"axes", std::vector<int>{0, 1}},
                      {"starts", std::vector<int>{1, 0}},
                      {"ends", std::vector<int>{2, 2147483647}},
                      {"decrease_axis", std::vector<int>{0}}}};
  const Program program = ImportOp(WithInput({3, 5}), slice, "y");
  EXPECT_EQ(Types(program), (Names{"slice", "squeeze"}));
  EXPECT_EQ(ResultMeta(program.Clone()).DebugString(), "f32[5]");
}

TEST(PaddleConvert, SplitsWithoutKnownSizes) {
  TestModel model = WithInput({-1, 4});
  model.AddOp({"split", {{"X", {"x"}}}, {{"Out", {"a", "b"}}}, {{"axis", 0}, {"num", 2}}});
  model.AddOutput("a");
  model.AddOutput("b");
  const Program program = ImportBytes(model.Bytes());
  EXPECT_EQ(FindOp(program, "split").Output("out").size(), 2U);
  EXPECT_TRUE(FindOp(program, "split").HasInput("sections"));
  EXPECT_EQ(ResultMeta(program.Clone()).DebugString(), "f32[floor(x_0/2),4]");
}

TEST(PaddleConvert, FilledTensorsAreConstantsWhenSmall) {
  const auto fill = [](std::vector<int64_t> shape, const std::string& text, int dtype) {
    TestModel model = WithInput({1});
    model.AddOp({"fill_constant",
                 {},
                 {{"Out", {"c"}}},
                 {{"shape", std::move(shape)}, {"value", 1.0F}, {"str_value", text}, {"dtype", dtype}}});
    model.AddOutput("x");
    model.AddOutput("c");
    return ImportBytes(model.Bytes());
  };
  EXPECT_EQ(fill({2}, "9223372036854775807", 3).weights.at("c").data<int64_t>()[1], INT64_MAX);
  EXPECT_EQ(fill({}, "inf", 5).weights.at("c").data<float>()[0], std::numeric_limits<float>::infinity());
  const Program big = fill({100, 100}, "0.5", 5);
  EXPECT_TRUE(big.weights.empty());
  EXPECT_EQ(FindOp(big, "full").GetAttr<IntArray>("shape"), IntArray({100, 100}));
  EXPECT_EQ(ErrorOf([&] { fill({1}, "many", 5); }).code(), ErrorCode::kCorrupt);
}

TEST(PaddleConvert, FullReductionsOfOldFilesHaveOneDimension) {
  TestModel model = WithInput({2, 3});
  const TestOp reduce{"reduce_sum",
                      {{"X", {"x"}}},
                      {{"Out", {"y"}}},
                      {{"dim", std::vector<int>{0}}, {"reduce_all", true}, {"keep_dim", false}}};
  EXPECT_EQ(ResultMeta(ImportOp(model, reduce, "y")).DebugString(), "f32[]");
  model.AddVar("y", {1});
  EXPECT_EQ(ResultMeta(ImportOp(model, reduce, "y")).DebugString(), "f32[1]");
}

TEST(PaddleConvert, SamePaddingMeansNoDilation) {
  TestModel model = WithInput({1, 2, 8, 8});
  model.AddInput("w", {2, 2, 3, 3});
  const TestOp conv{"conv2d",
                    {{"Input", {"x"}}, {"Filter", {"w"}}},
                    {{"Output", {"y"}}},
                    {{"padding_algorithm", std::string("SAME")}, {"dilations", std::vector<int>{2, 2}}}};
  EXPECT_EQ(FindOp(ImportOp(model, conv, "y"), "conv2d").GetAttr<Numbers>("dilations"), (Numbers{1, 1}));
}

TEST(PaddleConvert, AttributesMayBeVariables) {
  TestModel model = WithInput({2, 3});
  model.AddOp(
      {"fill_constant", {}, {{"Out", {"axis"}}}, {{"shape", std::vector<int64_t>{1}}, {"value", 1.0F}, {"dtype", 2}}});
  const TestOp concat{"concat", {{"X", {"x", "x"}}}, {{"Out", {"y"}}}, {{"axis", TestVarRef{"axis"}}}};
  EXPECT_EQ(FindOp(ImportOp(model, concat, "y"), "concat").GetAttr<int64_t>("axis"), 1);
}

TEST(PaddleConvert, PaddingsGoToTheirAxes) {
  const TestOp pad3d{"pad3d",
                     {{"X", {"x"}}},
                     {{"Out", {"y"}}},
                     {{"paddings", std::vector<int>{1, 2, 3, 4, 5, 6}},
                      {"mode", std::string("replicate")},
                      {"data_format", std::string("NCDHW")}}};
  const Program program = ImportOp(WithInput({1, 1, 4, 5, 6}), pad3d, "y");
  EXPECT_EQ(FindOp(program, "pad").GetAttr<IntArray>("paddings"), IntArray({0, 0, 5, 3, 1, 0, 0, 6, 4, 2}));
  EXPECT_EQ(FindOp(program, "pad").GetAttr<std::string>("mode"), "edge");
  const TestOp pad2d{
      "pad2d", {{"X", {"x"}}}, {{"Out", {"y"}}}, {{"paddings", std::vector<int>{1, 2, 3, 4}}, {"pad_value", 0.5F}}};
  const Program image = ImportOp(WithInput({1, 1, 4, 5}), pad2d, "y");
  EXPECT_EQ(FindOp(image, "pad").GetAttr<IntArray>("paddings"), IntArray({0, 0, 1, 3, 0, 0, 2, 4}));
}

TEST(PaddleConvert, PixelShuffleWithUnknownSizes) {
  const TestOp shuffle{"pixel_shuffle", {{"X", {"x"}}}, {{"Out", {"y"}}}, {{"upscale_factor", 2}}};
  EXPECT_EQ(ResultMeta(ImportOp(WithInput({1, 8, 3, 5}), shuffle, "y")).DebugString(), "f32[1,2,6,10]");
  EXPECT_EQ(ResultMeta(ImportOp(WithInput({-1, 8, -1, -1}), shuffle, "y")).DebugString(), "f32[x_0,2,2*x_2,2*x_3]");
  EXPECT_EQ(ErrorOf([&] { ImportOp(WithInput({1, 6, 3, 5}), shuffle, "y"); }).code(), ErrorCode::kCorrupt);
}

TEST(PaddleConvert, ConstantsOfRules) {
  TestModel model = WithInput({1});
  model.AddOp({"eye", {}, {{"Out", {"e"}}}, {{"num_rows", int64_t{2}}, {"num_columns", int64_t{3}}, {"dtype", 5}}});
  for (const auto& [name, value] : {std::pair("a", 1.0F), std::pair("b", 2.0F), std::pair("n", 5.0F)}) {
    model.AddOp({"fill_constant",
                 {},
                 {{"Out", {name}}},
                 {{"shape", std::vector<int64_t>{1}}, {"value", value}, {"dtype", name[0] == 'n' ? 2 : 5}}});
  }
  model.AddOp({"linspace", {{"Start", {"a"}}, {"Stop", {"b"}}, {"Num", {"n"}}}, {{"Out", {"l"}}}, {{"dtype", 5}}});
  model.AddOutput("x");
  model.AddOutput("e");
  model.AddOutput("l");
  Program program = ImportBytes(model.Bytes());
  InferProgram(&program);
  EXPECT_EQ(program.main().values.at(program.main().outputs[1]).DebugString(), "f32[2,3]");
  EXPECT_EQ(program.main().values.at(program.main().outputs[2]).DebugString(), "f32[5]");
}

TEST(PaddleConvert, WrongAttributesNameThemselves) {
  const Error error = ErrorOf([&] {
    ImportOp(WithInput({2}), {"scale", {{"X", {"x"}}}, {{"Out", {"y"}}}, {{"bias_after_scale", std::string("yes")}}},
             "y");
  });
  EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
  EXPECT_NE(std::string(error.what()).find("bias_after_scale"), std::string::npos) << error.what();
  EXPECT_NE(std::string(error.what()).find("operator 'scale' named 'y'"), std::string::npos) << error.what();
}

// Its magnitude is no 64-bit number.
TEST(PaddleConvert, TheLeastNumberIsOutOfRange) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  const std::pair<const char*, const char*> attributes[] = {{"round", "decimals"},
                                                            {"partial_concat", "start_index"},
                                                            {"partial_sum", "start_index"},
                                                            {"elementwise_add", "axis"}};
  for (const auto& [type, attribute] : attributes) {
    const Error error = ErrorOf([&] {
      ImportOp(WithInput({2, 3}), {type, {{"X", {"x"}}, {"Y", {"x"}}}, {{"Out", {"y"}}}, {{attribute, kLeast}}}, "y");
    });
    EXPECT_NE(error.message().find("-9223372036854775808"), std::string::npos) << type << ": " << error.message();
  }
}

// Each would be computed without a word, as something else.
TEST(PaddleConvert, WhatDoesNotFitTogetherIsAnError) {
  const auto error_of = [](const std::vector<int64_t>& dims, const TestOp& op) {
    TestModel model = WithInput(dims);
    model.AddInput("w", {6, 2});
    return ErrorOf([&] { ImportOp(model, op, "y"); }).message();
  };
  const auto one = [](const std::string& type, std::vector<std::pair<std::string, TestAttr>> attrs) {
    return TestOp{type, {{"X", {"x"}}}, {{"Out", {"y"}}}, std::move(attrs)};
  };
  EXPECT_EQ(error_of({8, 3}, one("frame", {{"frame_length", 9}, {"hop_length", 2}, {"axis", 0}})),
            "a frame of 9 is longer than 8");
  EXPECT_EQ(error_of({8, 3}, one("kthvalue", {{"k", 0}, {"axis", 0}})), "attribute k is 0");
  EXPECT_EQ(error_of({8, 3}, {"split", {{"X", {"x"}}}, {{"Out", {"y", "z"}}}, {{"num", 4}, {"axis", 0}}}),
            "it makes 4 parts and has 2 results");
  EXPECT_EQ(error_of({8, 3}, one("fft_c2c", {{"axes", std::vector<int>{0, -2}}, {"forward", true}})),
            "it has an axis twice");
  // An input that Paddle would read instead of the attribute.
  const TestOp more{"scale", {{"X", {"x"}}, {"BiasTensor", {"w"}}}, {{"Out", {"y"}}}, {{"bias", 1.0F}}};
  EXPECT_NE(error_of({8, 3, 2}, more).find("input BiasTensor is given"), std::string::npos);
  // Weights of 3 gates of 2 values, for 3 values.
  const TestOp rnn{"rnn",
                   {{"Input", {"x"}}, {"PreState", {"x"}}, {"WeightList", {"w", "w", "w", "w"}}},
                   {{"Out", {"y"}}},
                   {{"mode", std::string("GRU")}, {"hidden_size", 3}, {"num_layers", 1}}};
  EXPECT_EQ(error_of({1, 3, 2}, rnn), "dimension 0 of 'w' is 6, expected 9");
}

TestOp Interp(const std::string& type, std::vector<std::pair<std::string, TestAttr>> attrs) {
  attrs.emplace_back("align_corners", false);
  return {type, {{"X", {"x"}}}, {{"Out", {"y"}}}, std::move(attrs)};
}

TEST(PaddleConvert, InterpolationByScale) {
  const std::vector<float> scale = {2.0F, 0.5F};
  const OpDesc two =
      FindOp(ImportOp(WithInput({1, 3, 4, 6}), Interp("nearest_interp_v2", {{"scale", scale}}), "y"), "interpolate");
  EXPECT_EQ(two.GetAttr<std::string>("coordinates"), "asymmetric");
  EXPECT_EQ(two.GetAttr<std::string>("nearest_mode"), "floor");
  EXPECT_FALSE(two.GetAttr<bool>("recompute_scale"));
  Program one =
      ImportOp(WithInput({1, 3, -1, 6}), Interp("bilinear_interp", {{"scale", 2.0F}, {"align_mode", 0}}), "y");
  EXPECT_EQ(FindOp(one, "interpolate").GetAttr<std::string>("coordinates"), "half_pixel");
  EXPECT_TRUE(FindOp(one, "interpolate").GetAttr<bool>("recompute_scale"));
  const MetaTensor result = ResultMeta(std::move(one));
  EXPECT_EQ(result.dims[3], Dim(12));
  EXPECT_FALSE(result.dims[2].known());
  const std::vector<float> same = {1.0F, 1.0F};
  EXPECT_EQ(Types(ImportOp(WithInput({1, 3, 4, 6}), Interp("bicubic_interp_v2", {{"scale", same}}), "y")),
            Names{"assign"});
}

TEST(PaddleConvert, InterpolationBySize) {
  const std::string nhwc = "NHWC";
  Program attrs = ImportOp(WithInput({1, 4, 6, 3}),
                           Interp("bilinear_interp_v2", {{"out_h", 7}, {"out_w", 9}, {"data_layout", nhwc}}), "y");
  EXPECT_EQ(FindOp(attrs, "interpolate").GetAttr<Numbers>("axes"), (Numbers{1, 2}));
  EXPECT_EQ(ResultMeta(std::move(attrs)).DebugString(), "f32[1,7,9,3]");
  // A tensor goes before scales and attributes.
  TestModel model = WithInput({1, 3, 4, 6});
  model.AddInput("s", {2}, 2);
  TestOp op = Interp("nearest_interp", {{"out_h", 7}, {"out_w", 9}, {"scale", 0.0F}});
  op.inputs.push_back({"OutSize", {"s"}});
  EXPECT_EQ(FindOp(ImportOp(model, op, "y"), "interpolate").Input("size"), Names{"s"});
  TestModel listed = WithInput({1, 3, 4, 6});
  listed.AddInput("h", {1}, 2);
  listed.AddInput("w", {1}, 2);
  TestOp list = Interp("nearest_interp_v2", {{"scale", std::vector<float>{3.0F, 3.0F}}});
  list.inputs.push_back({"SizeTensor", {"h", "w"}});
  const OpDesc sized = FindOp(ImportOp(listed, list, "y"), "interpolate");
  EXPECT_EQ(sized.Input("size").size(), 1U);
  EXPECT_TRUE(sized.GetAttr<std::vector<double>>("scale").empty());
  TestModel scaled = WithInput({1, 3, 4, 6});
  scaled.AddInput("s", {1});
  TestOp by_tensor = Interp("nearest_interp_v2", {});
  by_tensor.inputs.push_back({"Scale", {"s"}});
  EXPECT_EQ(FindOp(ImportOp(scaled, by_tensor, "y"), "interpolate").Input("scale_tensor").size(), 1U);
}

}  // namespace
}  // namespace wherry::paddle
