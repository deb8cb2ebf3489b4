// Operators that are built of many: what is inferred about their results, and the parts that decide their numbers.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/file_test_util.h"
#include "importers/onnx/model_test_util.h"

namespace wherry::onnx {
namespace {

using Names = std::vector<std::string>;
using Numbers = std::vector<int64_t>;
enum : int { kUInt8 = 2, kInt8 = 3 };

struct Case {
  TestNode node;
  std::vector<TestValue> inputs;
  int64_t opset = 21;
};

Program Import(const Case& one) {
  TestModel model;
  model.opsets = {{"", one.opset}};
  model.graph.inputs = one.inputs;
  model.graph.nodes = {one.node};
  for (const TestValue& input : one.inputs) model.graph.nodes[0].inputs.push_back(input.name);
  for (const std::string& output : one.node.outputs) model.graph.outputs.push_back({output, {}});
  return ImportBytes(model.Bytes());
}
TestValue Value(const std::string& name, const Numbers& dims, int type = kTestFloat) {
  return {name, {dims.begin(), dims.end()}, type};
}
bool Has(const Program& program, const std::string& type) {
  const Names types = Types(program);
  return std::find(types.begin(), types.end(), type) != types.end();
}

TEST(OnnxComposed, QuantizationHasTheTypeOfTheZeroPoint) {
  const Case one{{"QuantizeLinear", {}, {"y"}, {{"axis", 1}}, "", ""},
                 {Value("x", {2, 3, 4}), Value("s", {3}), Value("z", {3}, kInt8)}};
  const Program program = Import(one);
  EXPECT_EQ(ResultMeta(program), "i8[2,3,4]");
  EXPECT_EQ(FindOp(program, "quantize_linear").GetAttr<DataType>("dtype"), DataType::kInt8);
  const Case plain{{"QuantizeLinear", {}, {"y"}, {}, "", ""}, {Value("x", {2}), Value("s", {})}};
  EXPECT_EQ(ResultMeta(Import(plain)), "u8[2]");
}

TEST(OnnxComposed, DequantizationByBlocks) {
  const Case one{{"DequantizeLinear", {}, {"y"}, {{"axis", 1}, {"block_size", 2}}, "", ""},
                 {Value("x", {4, 5}, kInt8), Value("s", {4, 3})}};
  const Program program = Import(one);
  EXPECT_EQ(ResultMeta(program), "f32[4,5]");
  EXPECT_EQ(FindOp(program, "dequantize_linear").GetAttr<int64_t>("block_size"), 2);
}

TEST(OnnxComposed, RecurrentLayers) {
  const Case lstm{{"LSTM",
                   {},
                   {"y", "h"},
                   {{"hidden_size", 4},
                    {"direction", std::string("reverse")},
                    {"layout", 1},
                    {"activations", Names{"HardSigmoid", "tanh", "Affine"}},
                    {"activation_alpha", std::vector<float>{0.25F, 2.0F}},
                    {"activation_beta", std::vector<float>{0.75F}}},
                   "",
                   ""},
                  {Value("x", {2, 3, 5}), Value("w", {1, 16, 5}), Value("r", {1, 16, 4})}};
  const Program program = Import(lstm);
  const OpDesc& rnn = FindOp(program, "rnn");
  EXPECT_EQ(rnn.GetAttr<std::string>("direction"), "reverse");
  EXPECT_EQ(rnn.GetAttr<Names>("activations"), (Names{"hard_sigmoid", "tanh", "affine"}));
  EXPECT_EQ(rnn.GetAttr<std::vector<double>>("alphas"), (std::vector<double>{0.25, 0.0, 2.0}));
  EXPECT_EQ(rnn.GetAttr<std::vector<double>>("betas"), (std::vector<double>{0.75, 0.0, 0.0}));
  EXPECT_EQ(ResultMeta(program), "f32[2,3,1,4]");
  EXPECT_EQ(ResultMeta(program, 1), "f32[2,1,4]");

  Case gru{{"GRU", {}, {"y"}, {{"hidden_size", 4}, {"linear_before_reset", 1}}, "", ""},
           {Value("x", {3, 2, 5}), Value("w", {1, 12, 5}), Value("r", {1, 12, 4})}};
  EXPECT_EQ(ResultMeta(Import(gru)), "f32[3,1,2,4]");
  EXPECT_TRUE(FindOp(Import(gru), "rnn").GetAttr<bool>("linear_before_reset"));
  Case lengths{{"GRU", {}, {"y", "h"}, {}, "", ""},
               {Value("x", {3, 2, 5}), Value("w", {1, 12, 5}), Value("r", {1, 12, 4}), Value("b", {1, 24}),
                Value("lens", {2}, kTestInt32)}};
  // A sequence without steps ends with zeros.
  EXPECT_EQ(FindOp(Import(lengths), "where").Output("out"), Names{Import(lengths).main().outputs[1]});
  EXPECT_EQ(ResultMeta(Import(lengths), 1), "f32[1,2,4]");
  gru.node.attrs[0].second = 5;
  EXPECT_NE(ErrorOf([&] { Import(gru); }).message().find("hidden_size is 5"), std::string::npos);
  gru.node.attrs = {{"activations", Names{"Sigmoid", "Swish"}}};
  EXPECT_NE(ErrorOf([&] { Import(gru); }).message().find("activation 'Swish'"), std::string::npos);
}

TEST(OnnxComposed, IntegerProducts) {
  const Case matmul{{"MatMulInteger", {}, {"y"}, {}, "", ""},
                    {Value("a", {2, 3}, kUInt8), Value("b", {3, 4}, kInt8), Value("za", {2}, kUInt8)}};
  EXPECT_EQ(ResultMeta(Import(matmul)), "i32[2,4]");
  EXPECT_EQ(FindOp(Import(matmul), "unsqueeze").GetAttr<IntArray>("axis"), IntArray({1}));
  const Case conv{{"ConvInteger", {}, {"y"}, {{"pads", Numbers{1, 1, 1, 1}}}, "", ""},
                  {Value("x", {1, 2, 4, 4}, kUInt8), Value("w", {3, 2, 3, 3}, kUInt8)}};
  EXPECT_EQ(ResultMeta(Import(conv)), "i32[1,3,4,4]");
  const Case qlinear{{"QLinearConv", {}, {"y"}, {}, "", ""},
                     {Value("x", {1, 2, 4, 4}, kUInt8), Value("xs", {}), Value("xz", {}, kUInt8),
                      Value("w", {3, 2, 3, 3}, kInt8), Value("ws", {3}), Value("wz", {3}, kInt8), Value("ys", {}),
                      Value("yz", {}, kUInt8), Value("b", {3}, kTestInt32)}};
  EXPECT_EQ(ResultMeta(Import(qlinear)), "u8[1,3,2,2]");
  EXPECT_TRUE(Has(Import(qlinear), "quantized_conv2d"));
  const Case plain{{"MatMulInteger", {}, {"y"}, {}, "", ""},
                   {Value("a", {2, 3}, kUInt8), Value("b", {3, 4}, kInt8), Value("za", {}, kUInt8)}};
  EXPECT_EQ(Types(Import(plain)), Names{"quantized_matmul"});
  const Case dynamic{{"DynamicQuantizeLinear", {}, {"y", "s", "z"}, {}, "", ""}, {Value("x", {2, 3})}};
  const Program program = Import(dynamic);
  EXPECT_EQ(ResultMeta(program, 0), "u8[2,3]");
  EXPECT_EQ(ResultMeta(program, 1), "f32[]");
  EXPECT_EQ(ResultMeta(program, 2), "u8[]");
}

TEST(OnnxComposed, Triangles) {
  Case one{{"Trilu", {}, {"y"}, {}, "", ""}, {Value("x", {2, 3, 4})}};
  EXPECT_FALSE(FindOp(Import(one), "tril_triu").GetAttr<bool>("lower"));
  EXPECT_EQ(ResultMeta(Import(one)), "f32[2,3,4]");
  one.node.attrs = {{"upper", 0}};
  one.inputs[0] = {"x", {"N", "M"}, kTestInt64};
  EXPECT_TRUE(FindOp(Import(one), "tril_triu").GetAttr<bool>("lower"));
  one.inputs[0] = Value("x", {3});
  EXPECT_EQ(ErrorOf([&] { Import(one); }).code(), ErrorCode::kInvalidArgument);
  const Case eye{{"EyeLike", {}, {"y"}, {{"dtype", kTestInt32}, {"k", -1}}, "", ""}, {Value("x", {3, 4})}};
  EXPECT_EQ(ResultMeta(Import(eye)), "i32[3,4] = [0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0]");
}

TEST(OnnxComposed, OneHot) {
  TestModel model;
  model.graph.inputs = {Value("i", {2, 3}, kTestInt64), Value("v", {2})};
  model.graph.initializers = {IntTensor("d", {5})};
  model.graph.nodes = {{"OneHot", {"i", "d", "v"}, {"y"}, {{"axis", 1}}, "", ""}};
  model.graph.outputs = {{"y", {}}};
  EXPECT_EQ(ResultMeta(ImportBytes(model.Bytes())), "f32[2,5,3]");
}

TEST(OnnxComposed, Losses) {
  const Case none{{"NegativeLogLikelihoodLoss", {}, {"y"}, {{"reduction", std::string("none")}}, "", ""},
                  {Value("x", {2, 3, 4}), Value("t", {2, 4}, kTestInt64), Value("w", {3})}};
  EXPECT_EQ(ResultMeta(Import(none)), "f32[2,4]");
  const Case mean{{"SoftmaxCrossEntropyLoss", {}, {"y", "p"}, {{"ignore_index", -1}}, "", ""},
                  {Value("x", {2, 3}), Value("t", {2}, kTestInt32)}};
  EXPECT_EQ(ResultMeta(Import(mean), 0), "f32[]");
  EXPECT_EQ(ResultMeta(Import(mean), 1), "f32[2,3]");
}

TEST(OnnxComposed, RotaryEmbedding) {
  Case one{{"RotaryEmbedding", {}, {"y"}, {{"num_heads", 2}, {"rotary_embedding_dim", 4}}, "", ""},
           {Value("x", {1, 5, 12}), Value("c", {7, 2}), Value("s", {7, 2}), Value("p", {1, 5}, kTestInt64)},
           23};
  EXPECT_EQ(ResultMeta(Import(one)), "f32[1,5,12]");
  one.node.attrs.emplace_back("interleaved", 1);
  one.inputs[0] = Value("x", {1, 2, 5, 6});
  EXPECT_EQ(ResultMeta(Import(one)), "f32[1,2,5,6]");
  one.node.attrs[1].second = 8;
  EXPECT_EQ(ErrorOf([&] { Import(one); }).code(), ErrorCode::kCorrupt);
}

TEST(OnnxComposed, Attention) {
  Case one{{"Attention", {}, {"y", "k2", "v2", "qk"}, {{"q_num_heads", 4}, {"kv_num_heads", 2}}, "", ""},
           {Value("q", {2, 3, 32}), Value("k", {2, 5, 16}), Value("v", {2, 5, 12}), Value("m", {3, 6}, kTestBool),
            Value("pk", {2, 2, 1, 8}), Value("pv", {2, 2, 1, 6})},
           25};
  const Program program = Import(one);
  EXPECT_EQ(ResultMeta(program, 0), "f32[2,3,24]");
  EXPECT_EQ(ResultMeta(program, 1), "f32[2,2,6,8]");
  EXPECT_EQ(ResultMeta(program, 2), "f32[2,2,6,6]");
  EXPECT_EQ(ResultMeta(program, 3), "f32[2,4,3,6]");
  EXPECT_FALSE(Has(program, "less_equal"));
  for (const char* attr : {"is_causal", "right_window_size"}) {
    Case masked = one;
    masked.node.attrs.emplace_back(attr, 1);
    EXPECT_TRUE(Has(Import(masked), "less_equal")) << attr;
  }
  Case whole = one;  // without the scores
  whole.node.outputs.pop_back();
  EXPECT_TRUE(Has(Import(whole), "attention"));
  EXPECT_EQ(ResultMeta(Import(whole), 0), "f32[2,3,24]");
  one.node.attrs[0].second = 1;  // fewer heads than the keys have
  EXPECT_EQ(ErrorOf([&] { Import(one); }).code(), ErrorCode::kCorrupt);
}

TEST(OnnxComposed, PoolsOfPowersAndNeighbouringChannels) {
  const Case lp{{"LpPool", {}, {"y"}, {{"kernel_shape", Numbers{2, 2}}, {"p", 3}}, "", ""}, {Value("x", {1, 2, 4, 4})}};
  EXPECT_EQ(ResultMeta(Import(lp)), "f32[1,2,3,3]");
  EXPECT_EQ(FindOp(Import(lp), "pool2d").GetAttr<std::string>("pooling_type"), "sum");
  const Case lrn{{"LRN", {}, {"y"}, {{"size", 4}}, "", ""}, {Value("x", {1, 6, 4, 4})}};
  EXPECT_EQ(ResultMeta(Import(lrn)), "f32[1,6,4,4]");
  EXPECT_EQ(FindOp(Import(lrn), "pool2d").GetAttr<Numbers>("paddings"), (Numbers{1, 2, 0, 0}));
}

TEST(OnnxComposed, StatisticsOfLayerNormalization) {
  const Case one{{"LayerNormalization", {}, {"y", "m", "s"}, {{"axis", 1}}, "", ""},
                 {Value("x", {2, 3, 4}), Value("w", {3, 4})}};
  EXPECT_EQ(ResultMeta(Import(one), 0), "f32[2,3,4]");
  EXPECT_EQ(ResultMeta(Import(one), 1), "f32[2,1,1]");
  EXPECT_EQ(ResultMeta(Import(one), 2), "f32[2,1,1]");
}

}  // namespace
}  // namespace wherry::onnx
