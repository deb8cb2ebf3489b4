// Transforms, windows and Einstein sums.
#include <gtest/gtest.h>

#include "base/file_test_util.h"
#include "importers/onnx/model_test_util.h"

namespace wherry::onnx {
namespace {

Program Import(const TestNode& node, const std::vector<TestValue>& inputs, const std::vector<TestTensor>& weights,
               int64_t opset) {
  TestModel model;
  model.opsets = {{"", opset}};
  model.graph.inputs = inputs;
  model.graph.initializers = weights;
  model.graph.nodes = {node};
  for (const std::string& output : node.outputs) model.graph.outputs.push_back({output, {}});
  return ImportBytes(model.Bytes());
}
TestValue Value(const std::string& name, const std::vector<int64_t>& dims, int type = kTestFloat) {
  return {name, {dims.begin(), dims.end()}, type};
}

TEST(OnnxSignal, TheAxisIsAnAttributeAtFirst) {
  const TestNode by_attribute{"DFT", {"x"}, {"y"}, {{"axis", 1}, {"onesided", 1}}, "", ""};
  EXPECT_EQ(ResultMeta(Import(by_attribute, {Value("x", {2, 8, 3, 1})}, {}, 17)), "f32[2,5,3,2]");
  const TestNode by_input{"DFT", {"x", "", "axis"}, {"y"}, {}, "", ""};
  TestTensor axis = IntTensor("axis", {2});
  axis.dims = {};
  EXPECT_EQ(ResultMeta(Import(by_input, {Value("x", {2, 8, 3, 1})}, {axis}, 20)), "f32[2,8,3,2]");
  EXPECT_EQ(ResultMeta(Import({"DFT", {"x"}, {"y"}, {}, "", ""}, {Value("x", {2, 8, 1})}, {}, 20)), "f32[2,8,2]");
}

TEST(OnnxSignal, FramesOfASignal) {
  TestTensor step = IntTensor("step", {4});
  step.dims = {};
  const TestNode node{"STFT", {"x", "step", "w"}, {"y"}, {{"onesided", 1}}, "", ""};
  EXPECT_EQ(ResultMeta(Import(node, {Value("x", {2, 32, 1}), Value("w", {8})}, {step}, 17)), "f32[2,7,5,2]");
  const TestNode bare{"STFT", {"x", "step"}, {"y"}, {}, "", ""};
  EXPECT_EQ(ErrorOf([&] { Import(bare, {Value("x", {2, 32, 1})}, {step}, 17); }).code(), ErrorCode::kCorrupt);
}

TEST(OnnxSignal, WindowsOfAnySize) {
  TestTensor size = IntTensor("n", {6});
  size.dims = {};
  for (const char* type : {"HannWindow", "HammingWindow", "BlackmanWindow"}) {
    EXPECT_EQ(ResultMeta(Import({type, {"n"}, {"y"}, {}, "", ""}, {}, {size}, 17)), "f32[6]");
    EXPECT_EQ(ResultMeta(Import({type, {"n"}, {"y"}, {{"output_datatype", 11}}, "", ""}, {Value("n", {}, kTestInt64)},
                                {}, 17)),
              "f64[d_1]");
  }
}

TEST(OnnxSignal, EinsteinSums) {
  const TestNode node{"Einsum", {"x", "y"}, {"z"}, {{"equation", std::string("bij,bjk->bik")}}, "", ""};
  EXPECT_EQ(ResultMeta(Import(node, {Value("x", {5, 2, 3}), Value("y", {5, 3, 4})}, {}, 12)), "f32[5,2,4]");
}

}  // namespace
}  // namespace wherry::onnx
