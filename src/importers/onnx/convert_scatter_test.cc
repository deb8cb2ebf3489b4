// Positions and order: what becomes of the operators, over the opsets that have them.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/file_test_util.h"
#include "importers/onnx/model_test_util.h"

namespace wherry::onnx {
namespace {

using Numbers = std::vector<int64_t>;
enum : int { kUInt8 = 2 };

TestValue Value(const std::string& name, const Numbers& dims, int type = kTestFloat) {
  return {name, {dims.begin(), dims.end()}, type};
}
Program Import(TestNode node, const std::vector<TestValue>& inputs, int64_t opset) {
  TestModel model;
  model.opsets = {{"", opset}};
  model.graph.inputs = inputs;
  for (const TestValue& input : inputs) node.inputs.push_back(input.name);
  for (const std::string& output : node.outputs) model.graph.outputs.push_back({output, {}});
  model.graph.nodes = {node};
  return ImportBytes(model.Bytes());
}

template <typename Function>
std::string MessageOf(Function function) {
  return ErrorOf(function).what();
}

TEST(OnnxScatter, ElementsAndParts) {
  const std::vector<TestValue> elements = {Value("x", {3, 4}), Value("i", {2, 4}, kTestInt64), Value("u", {2, 4})};
  const Program added =
      Import({"ScatterElements", {}, {"y"}, {{"axis", 0}, {"reduction", std::string("add")}}, "", ""}, elements, 18);
  EXPECT_EQ(FindOp(added, "put_along_axis").GetAttr<std::string>("reduce"), "add");
  EXPECT_EQ(ResultMeta(added), "f32[3,4]");
  EXPECT_EQ(
      FindOp(Import({"Scatter", {}, {"y"}, {}, "", ""}, elements, 9), "put_along_axis").GetAttr<std::string>("reduce"),
      "assign");
  const Program parts = Import({"ScatterND", {}, {"y"}, {}, "", ""},
                               {Value("x", {3, 4}), Value("i", {2, 1}, kTestInt64), Value("u", {2, 4})}, 11);
  EXPECT_EQ(ResultMeta(parts), "f32[3,4]");
  EXPECT_EQ(ResultMeta(Import({"GatherND", {}, {"y"}, {{"batch_dims", 1}}, "", ""},
                              {Value("x", {2, 3, 4}), Value("i", {2, 1}, kTestInt64)}, 12)),
            "f32[2,4]");
  EXPECT_NE(MessageOf([&] {
              Import({"ScatterND", {}, {"y"}, {{"reduction", std::string("sum")}}, "", ""},
                     {Value("x", {3, 4}), Value("i", {2, 1}, kTestInt64), Value("u", {2, 4})}, 18);
            }).find("reduction is 'sum'"),
            std::string::npos);
}

TEST(OnnxScatter, TopKHasItsCountInAnAttributeAtFirst) {
  EXPECT_EQ(ResultMeta(Import({"TopK", {}, {"y", "i"}, {{"k", 2}}, "", ""}, {Value("x", {3, 4})}, 6), 1), "i64[3,2]");
  TestModel model;
  model.graph.inputs = {Value("x", {3, 4})};
  model.graph.initializers = {IntTensor("k", {3})};
  model.graph.nodes = {{"TopK", {"x", "k"}, {"y", "i"}, {{"axis", 0}, {"largest", 0}}, "", ""}};
  model.graph.outputs = {{"y", {}}};
  const Program program = ImportBytes(model.Bytes());
  EXPECT_EQ(ResultMeta(program), "f32[3,4]");
  EXPECT_FALSE(FindOp(program, "topk").GetAttr<bool>("largest"));
  EXPECT_TRUE(FindOp(program, "topk").GetAttr<bool>("stable"));
}

TEST(OnnxScatter, SelectionsWhoseSizeTheValuesDecide) {
  const Program compressed =
      Import({"Compress", {}, {"y"}, {{"axis", 1}}, "", ""}, {Value("x", {3, 4}), Value("c", {4}, kTestBool)}, 11);
  EXPECT_EQ(FindOp(compressed, "gather").GetAttr<int64_t>("axis"), 1);
  const Program unique = Import({"Unique", {}, {"y"}, {{"axis", 0}, {"sorted", 0}}, "", ""}, {Value("x", {3, 4})}, 11);
  EXPECT_EQ(FindOp(unique, "unique").GetAttr<Numbers>("axis"), Numbers{0});
}

TEST(OnnxScatter, BitsMoveInOneDirection) {
  const std::vector<TestValue> inputs = {Value("x", {3}, kUInt8), Value("y", {3}, kUInt8)};
  const auto shift = [&](const std::string& direction) {
    return Import({"BitShift", {}, {"z"}, {{"direction", direction}}, "", ""}, inputs, 11);
  };
  EXPECT_EQ(Types(shift("LEFT")), (std::vector<std::string>{"bitwise_left_shift"}));
  EXPECT_EQ(Types(shift("RIGHT")), (std::vector<std::string>{"bitwise_right_shift"}));
  EXPECT_NE(MessageOf([&] { shift("UP"); }).find("direction is 'UP'"), std::string::npos);
}

TEST(OnnxScatter, ReversedSequences) {
  const Program program = Import({"ReverseSequence", {}, {"y"}, {{"batch_axis", 0}, {"time_axis", 1}}, "", ""},
                                 {Value("x", {2, 4, 5}), Value("n", {2}, kTestInt64)}, 10);
  EXPECT_EQ(Types(program).back(), "gather_nd");
  EXPECT_EQ(ResultMeta(program), "f32[2,4,5]");
}

}  // namespace
}  // namespace wherry::onnx
