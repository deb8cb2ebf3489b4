// Operators of com.microsoft, and functions of ONNX with a state: what is inferred about their results, and what is
// refused. Their numbers are compared with ONNX Runtime's by tests/conformance/onnx.
#include <gtest/gtest.h>

#include "base/file_test_util.h"
#include "importers/onnx/model_test_util.h"

namespace wherry::onnx {
namespace {

using Numbers = std::vector<int64_t>;
enum : int { kUInt8 = 2 };

TestValue Value(const std::string& name, const Numbers& dims, int type = kTestFloat) {
  return {name, {dims.begin(), dims.end()}, type};
}

Program Import(const TestNode& node, const std::vector<TestValue>& inputs) {
  TestModel model;
  model.opsets = {{"", 28}, {"com.microsoft", 1}};
  model.graph.inputs = inputs;
  model.graph.nodes = {node};
  for (const TestValue& input : inputs) model.graph.nodes[0].inputs.push_back(input.name);
  for (const std::string& output : node.outputs) {
    if (!output.empty()) model.graph.outputs.push_back({output, {}});
  }
  return ImportBytes(model.Bytes());
}
TestNode Contrib(const std::string& type, std::vector<std::pair<std::string, TestAttr>> attrs,
                 std::vector<std::string> outputs = {"y"}) {
  return {type, {}, std::move(outputs), std::move(attrs), "com.microsoft", ""};
}

TEST(OnnxContrib, FusedConvAddsAndActivates) {
  const std::vector<TestValue> inputs = {Value("x", {1, 3, 8, 8}), Value("w", {4, 3, 3, 3}), Value("b", {4}),
                                         Value("z", {1, 4, 6, 6})};
  const Program program = Import(Contrib("FusedConv", {{"activation", std::string("LeakyRelu")}}), inputs);
  EXPECT_EQ(Types(program), (std::vector<std::string>{"conv2d", "add", "leaky_relu"}));
  EXPECT_EQ(ResultMeta(program), "f32[1,4,6,6]");
  EXPECT_EQ(ErrorOf([&] {
              Import(Contrib("FusedConv", {{"activation", std::string("Odd")}}), inputs);
            }).code(),
            ErrorCode::kUnsupported);
}

TEST(OnnxContrib, FusedMatMulTransposes) {
  const Program program = Import(Contrib("FusedMatMul", {{"transBatchA", 1}, {"transB", 1}, {"alpha", 0.5F}}),
                                 {Value("a", {4, 2, 3}), Value("b", {2, 5, 3})});
  EXPECT_EQ(Types(program), (std::vector<std::string>{"transpose", "matmul", "scale"}));
  EXPECT_EQ(ResultMeta(program), "f32[2,4,5]");
}

TEST(OnnxContrib, SkipLayerNormalizationGivesTheSum) {
  const std::vector<TestValue> inputs = {Value("x", {2, 3, 8}), Value("s", {2, 3, 8}), Value("g", {8}),
                                         Value("b", {8})};
  const Program program = Import(Contrib("SkipLayerNormalization", {}, {"y", "", "", "sum"}), inputs);
  EXPECT_EQ(Types(program), (std::vector<std::string>{"add", "layer_norm"}));
  const Program statistics = Import(Contrib("SkipLayerNormalization", {}, {"y", "mean", "deviation"}), inputs);
  EXPECT_EQ(ResultMeta(statistics, 1), "f32[2,3,1]");
  EXPECT_EQ(ResultMeta(statistics, 2), "f32[2,3,1]");
}

TEST(OnnxContrib, LayoutsOfOneMachineAreRefused) {
  TestNode node = Contrib("ReorderInput", {});
  node.domain = "com.microsoft.nchwc";
  const Error error = ErrorOf([&] { Import(node, {Value("x", {1, 16, 4, 4})}); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_NE(std::string(error.what()).find("'extended'"), std::string::npos) << error.what();
}

TEST(OnnxContrib, MatMulNBits) {
  const auto node = [](int bits) {
    return Contrib("MatMulNBits", {{"K", 80}, {"N", 6}, {"bits", bits}, {"block_size", 32}});
  };
  const std::vector<TestValue> inputs = {Value("x", {2, 5, 80}), Value("w", {6, 3, 16}, kUInt8), Value("s", {18}),
                                         Value("z", {6, 2}, kUInt8)};
  EXPECT_EQ(ResultMeta(Import(node(4), inputs)), "f32[2,5,6]");
  EXPECT_EQ(ErrorOf([&] { Import(node(3), inputs); }).code(), ErrorCode::kUnsupported);
}

// Constant weights stay as they are stored; anything else but f32 and bytes is spread out as before.
TEST(OnnxContrib, MatMulNBitsOfConstants) {
  const auto bytes = [](const std::string& name, const std::vector<int64_t>& dims) {
    int64_t count = 1;
    for (const int64_t dim : dims) count *= dim;
    return TestTensor{name, dims, kUInt8, std::string(static_cast<size_t>(count), 'a'), {}, {}, {}, {}};
  };
  const auto import = [&](int bits, const TestTensor& zeros) {
    TestModel model;
    model.opsets = {{"", 28}, {"com.microsoft", 1}};
    model.graph.inputs = {Value("x", {2, 5, 80}), Value("b", {6})};
    model.graph.initializers = {bytes("w", {6, 3, 4 * bits}), FloatTensor("s", {18}, std::vector<float>(18, 0.5F))};
    if (!zeros.name.empty()) model.graph.initializers.push_back(zeros);
    model.graph.nodes = {Contrib("MatMulNBits", {{"K", 80}, {"N", 6}, {"bits", bits}, {"block_size", 32}})};
    model.graph.nodes[0].inputs = {"x", "w", "s", zeros.name, "", "b"};
    model.graph.outputs = {{"y", {}}};
    return ImportBytes(model.Bytes());
  };
  const Program small = import(4, bytes("z", {6, 2}));
  EXPECT_EQ(ResultMeta(small), "f32[2,5,6]");
  EXPECT_EQ(FindOp(small, "weight_only_linear").GetAttr<int64_t>("group_size"), 32);
  EXPECT_EQ(Types(import(8, TestTensor{})),
            (std::vector<std::string>{"reshape", "reshape", "weight_only_linear", "add"}));
  const Program of_floats = import(4, FloatTensor("z", {18}, std::vector<float>(18, 7.5F)));
  EXPECT_EQ(FindOp(of_floats, "matmul").Type(), "matmul");
  EXPECT_EQ(FindOp(import(2, bytes("z", {6, 1})), "matmul").Type(), "matmul");
}

TEST(OnnxContrib, MultiHeadAttentionKeepsItsKeys) {
  const std::vector<TestValue> inputs = {Value("q", {2, 5, 16}), Value("k", {2, 7, 16}), Value("v", {2, 7, 8})};
  const Program plain = Import(Contrib("MultiHeadAttention", {{"num_heads", 4}}), inputs);
  EXPECT_EQ(Types(plain), std::vector<std::string>{"attention"});
  EXPECT_EQ(ResultMeta(plain), "f32[2,5,8]");
  const Program kept = Import(Contrib("MultiHeadAttention", {{"num_heads", 4}}, {"y", "k2", "v2"}), inputs);
  EXPECT_EQ(ResultMeta(kept, 1), "f32[2,4,7,4]");
  EXPECT_THROW(Import(Contrib("MultiHeadAttention", {{"num_heads", 3}}), inputs), Error);
}

TEST(OnnxContrib, GroupQueryAttentionGrowsItsCache) {
  const Numbers past = {1, 2, 6, 16};
  const Program program =
      Import(Contrib("GroupQueryAttention", {{"num_heads", 4}, {"kv_num_heads", 2}}, {"y", "keys", "values"}),
             {Value("q", {1, 1, 64}), Value("k", {1, 1, 32}), Value("v", {1, 1, 32}), Value("pk", past),
              Value("pv", past), Value("last", {1}, kTestInt32), Value("longest", {}, kTestInt32)});
  EXPECT_EQ(ResultMeta(program), "f32[1,1,64]");
  EXPECT_EQ(FindOp(program, "attention").Type(), "attention");
}

TEST(OnnxContrib, GroupQueryAttentionFindsTheSizeOfAHead) {
  const auto import = [](const TestValue& keys) {
    return Import(Contrib("GroupQueryAttention", {{"num_heads", 4}, {"kv_num_heads", 2}}),
                  {{"q", {"batch", "count", "columns"}, kTestFloat},
                   keys,
                   {"v", {"batch", "count", 32}, kTestFloat},
                   {"pk", {"batch", 2, "past", "size"}, kTestFloat},
                   {"pv", {"batch", 2, "past", "size"}, kTestFloat},
                   Value("last", {1}, kTestInt32),
                   Value("longest", {}, kTestInt32)});
  };
  EXPECT_EQ(ResultMeta(import({"k", {"batch", "count", 32}, kTestFloat})), "f32[batch,count,64]");
  const Error error = ErrorOf([&] { import({"k", {"batch", "count", "width"}, kTestFloat}); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
}

TEST(OnnxContrib, QuantisedOperatorsAreThoseOfTheirNumbers) {
  const Numbers one = {};
  const std::vector<TestValue> inputs = {Value("a", {2, 3}, kUInt8), Value("sa", one),        Value("za", one, kUInt8),
                                         Value("b", {2, 3}, kUInt8), Value("sb", one),        Value("zb", one, kUInt8),
                                         Value("sy", one),           Value("zy", one, kUInt8)};
  const Program program = Import(Contrib("QLinearAdd", {}), inputs);
  EXPECT_EQ(Types(program),
            (std::vector<std::string>{"dequantize_linear", "dequantize_linear", "add", "quantize_linear"}));
  EXPECT_EQ(ResultMeta(program), "u8[2,3]");
}

TEST(OnnxTrees, NodesThatAreNotThereAreFound) {
  const auto forest = [](int64_t child, int64_t last) {
    TestModel model;
    model.opsets = {{"", 17}, {"ai.onnx.ml", 3}};
    model.graph.inputs = {Value("x", {2, 3})};
    model.graph.outputs = {{"y", {}}};
    const auto texts = [](std::initializer_list<const char*> list) {
      return std::vector<std::string>(list.begin(), list.end());
    };
    model.graph.nodes = {{"TreeEnsembleRegressor",
                          {"x"},
                          {"y"},
                          {{"nodes_treeids", Numbers{0, 0, 0}},
                           {"nodes_nodeids", Numbers{0, 1, last}},
                           {"nodes_featureids", Numbers{2, 0, 0}},
                           {"nodes_modes", texts({"BRANCH_LEQ", "LEAF", "LEAF"})},
                           {"nodes_values", std::vector<float>{0.5F, 0.0F, 0.0F}},
                           {"nodes_truenodeids", Numbers{1, 0, 0}},
                           {"nodes_falsenodeids", Numbers{child, 0, 0}},
                           {"target_treeids", Numbers{0}},
                           {"target_nodeids", Numbers{1}},
                           {"target_ids", Numbers{0}},
                           {"target_weights", std::vector<float>{4.0F}}},
                          "ai.onnx.ml",
                          ""}};
    return model.Bytes();
  };
  EXPECT_EQ(ResultMeta(ImportBytes(forest(2, 2))), "f32[2,1]");
  EXPECT_EQ(ErrorOf([&] { ImportBytes(forest(7, 2)); }).code(), ErrorCode::kCorrupt);
  EXPECT_EQ(ErrorOf([&] { ImportBytes(forest(2, 1)); }).code(), ErrorCode::kCorrupt);
}

TEST(OnnxStateful, LinearAttentionIsALoop) {
  const Program program = Import({"LinearAttention",
                                  {},
                                  {"y", "s"},
                                  {{"q_num_heads", 4}, {"kv_num_heads", 2}, {"update_rule", std::string("linear")}},
                                  "",
                                  ""},
                                 {Value("q", {2, 5, 12}), Value("k", {2, 5, 6}), Value("v", {2, 5, 8})});
  EXPECT_EQ(FindOp(program, "loop").Type(), "loop");
}

TEST(OnnxStateful, CausalConvolutionGivesItsLastInputs) {
  const Program program = Import({"CausalConvWithState", {}, {"y", "s"}, {{"activation", std::string("silu")}}, "", ""},
                                 {Value("x", {2, 6, 9}), Value("w", {6, 1, 4}), Value("b", {6})});
  EXPECT_EQ(ResultMeta(program), "f32[2,6,9]");
  EXPECT_EQ(ResultMeta(program, 1), "f32[2,6,3]");
}

}  // namespace
}  // namespace wherry::onnx
