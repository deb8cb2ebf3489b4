// The seeds of fuzz/onnx_fuzz, which are committed. To write them again:
//   test_importers_onnx --gtest_also_run_disabled_tests --gtest_filter='*WriteSeeds'
#include <gtest/gtest.h>

#include "base/file_test_util.h"
#include "importers/onnx/model_test_util.h"

namespace wherry::onnx {
namespace {

using Numbers = std::vector<int64_t>;

void WriteSeed(const std::string& name, const std::string& bytes) { WriteText("fuzz/corpus/onnx_fuzz/" + name, bytes); }

// Convolution to softmax, with the shape arithmetic that exporters write.
TestModel Network() {
  TestModel model;
  model.graph.inputs = {{"x", {"N", int64_t{2}, int64_t{5}, int64_t{5}}}};
  model.graph.initializers = {FloatTensor("w", {4, 2, 3, 3}, std::vector<float>(72, 0.5F)),
                              FloatTensor("b", {4}, {1, 2, 3, 4}), IntTensor("zero", {0}), IntTensor("one", {1}),
                              IntTensor("rest", {-1})};
  TestTensor variance;
  variance.name = "v";
  variance.dims = {4};
  variance.floats = {1, 1, 2, 2};
  model.graph.initializers.push_back(variance);
  model.graph.nodes = {{"Conv", {"x", "w", "b"}, {"conv"}, {{"pads", Numbers{1, 1, 0, 0}}, {"group", 1}}, "", "c"},
                       {"BatchNormalization", {"conv", "b", "b", "b", "v"}, {"norm"}, {{"epsilon", 1e-3F}}, "", ""},
                       {"Clip", {"norm", "", "three"}, {"act"}, {}, "", ""},
                       {"Constant", {}, {"three"}, {{"value_float", 3.0F}}, "", ""},
                       {"MaxPool",
                        {"act"},
                        {"pool"},
                        {{"kernel_shape", Numbers{2, 2}}, {"auto_pad", std::string("SAME_UPPER")}},
                        "",
                        ""},
                       {"GlobalAveragePool", {"pool"}, {"mean"}, {}, "", ""},
                       {"Shape", {"x"}, {"shape"}, {}, "", ""},
                       {"Slice", {"shape", "zero", "one"}, {"n"}, {}, "", ""},
                       {"Concat", {"n", "rest"}, {"flat_shape"}, {{"axis", 0}}, "", ""},
                       {"Reshape", {"mean", "flat_shape"}, {"flat"}, {}, "", ""},
                       {"Split", {"flat"}, {"left", "right"}, {{"axis", 1}}, "", ""},
                       {"Sum", {"left", "right"}, {"both"}, {}, "", ""},
                       {"Softmax", {"both"}, {"y"}, {{"axis", -1}}, "", ""}};
  model.graph.outputs = {{"y", {}}};
  return model;
}

// A branch that captures, a function, external data, a loop, a name of another domain.
TestModel Rarities() {
  TestModel model;
  model.opsets = {{"", 18}, {"f", 1}, {"com.microsoft", 1}};
  model.graph.inputs = {{"c", {}, kTestBool}, {"x", {int64_t{2}, "W"}}};
  TestTensor external;
  external.name = "e";
  external.dims = {2};
  external.external = {{"location", "e.bin"}, {"offset", "4"}, {"length", "8"}};
  model.graph.initializers = {external};
  const auto yes = std::make_shared<TestGraph>();
  yes->nodes = {{"Relu", {"x"}, {"r"}, {}, "", ""}};
  yes->outputs = {{"r", {}}};
  const auto no = std::make_shared<TestGraph>();
  no->outputs = {{"x", {}}};
  model.graph.nodes = {
      {"If", {"c"}, {"i"}, {{"then_branch", TestGraphRef{yes}}, {"else_branch", TestGraphRef{no}}}, "", ""},
      {"Leaky", {"i"}, {"l"}, {{"slope", 0.5F}}, "f", ""},
      {"Loop", {"", "c", "l"}, {"o"}, {{"body", TestGraphRef{yes}}}, "", ""},
      {"FusedGelu", {"o"}, {"y"}, {{"names", std::vector<std::string>{"a", "b"}}}, "com.microsoft", ""}};
  TestFunction leaky;
  leaky.domain = "f";
  leaky.name = "Leaky";
  leaky.inputs = {"a"};
  leaky.outputs = {"b"};
  leaky.attributes = {"slope"};
  leaky.nodes = {{"LeakyRelu", {"a"}, {"b"}, {{"alpha", TestReference{"slope"}}}, "", ""}};
  model.functions = {leaky};
  model.graph.outputs = {{"y", {}}};
  return model;
}
TestModel WithoutExternalData() {
  TestModel model = Rarities();
  model.graph.initializers.clear();
  model.graph.nodes.resize(2);
  model.graph.outputs = {{"l", {}}};
  return model;
}

TEST(OnnxCorpus, SeedsAreWhatTheyShouldBe) {
  EXPECT_EQ(ResultMeta(ImportBytes(Network().Bytes())), "f32[N,2]");
  EXPECT_EQ(ResultMeta(ImportBytes(WithoutExternalData().Bytes())), "f32[2,W]");
  EXPECT_EQ(ErrorOf([] { ImportBytes(Rarities().Bytes()); }).code(), ErrorCode::kNotFound);
}

TEST(OnnxCorpus, DISABLED_WriteSeeds) {
  std::filesystem::create_directories("fuzz/corpus/onnx_fuzz");
  WriteSeed("network", Network().Bytes());
  WriteSeed("rarities", Rarities().Bytes());
  WriteSeed("branches", WithoutExternalData().Bytes());
  TestModel packed = Network();
  packed.packed = packed.shuffled = true;
  WriteSeed("shuffled", packed.Bytes());
}

}  // namespace
}  // namespace wherry::onnx
