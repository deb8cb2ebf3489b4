// Graphs in attributes, and functions of the model.
#include <gtest/gtest.h>

#include "base/file_test_util.h"
#include "importers/onnx/model_test_util.h"

namespace wherry::onnx {
namespace {

using Names = std::vector<std::string>;

std::shared_ptr<TestGraph> Branch(std::vector<TestNode> nodes, const Names& outputs) {
  auto graph = std::make_shared<TestGraph>();
  graph->nodes = std::move(nodes);
  for (const std::string& output : outputs) graph->outputs.push_back({output, {}});
  return graph;
}
TestNode If(const std::string& cond, const std::shared_ptr<TestGraph>& yes, const std::shared_ptr<TestGraph>& no,
            const Names& outputs) {
  return {"If", {cond}, outputs, {{"then_branch", TestGraphRef{yes}}, {"else_branch", TestGraphRef{no}}}, "", "choice"};
}
TestModel Choosing() {
  TestModel model;
  model.graph.inputs = {{"x", {int64_t{2}}}, {"c", {}, kTestBool}};
  model.graph.outputs = {{"y", {}}};
  return model;
}
Error ImportError(const TestModel& model) {
  return ErrorOf([&] { ImportBytes(model.Bytes()); });
}

TEST(OnnxControlFlow, BranchesSeeOuterValues) {
  TestModel model = Choosing();
  // The branch is sorted before what it captures.
  const auto yes = Branch({{"Relu", {"h"}, {"r"}, {}, "", ""}}, {"r"});
  const auto no = Branch({}, {"x"});
  model.graph.nodes = {If("c", yes, no, {"y"}), {"Exp", {"x"}, {"h"}, {}, "", ""}};
  const Program program = ImportBytes(model.Bytes());
  EXPECT_EQ(Types(program), (Names{"exp", "if"}));
  ASSERT_EQ(program.blocks.size(), 3U);
  EXPECT_EQ(Types(program, 1), Names{"relu"});
  EXPECT_EQ(program.blocks[1].inputs, program.blocks[2].inputs);
  EXPECT_EQ(FindOp(program, "if").Input("captures"), program.blocks[1].inputs);
  EXPECT_EQ(ResultMeta(program), "f32[2]");
}

TEST(OnnxControlFlow, BranchesOfDifferentShape) {
  TestModel model = Choosing();
  const auto yes = Branch({{"Constant", {}, {"k"}, {{"value", FloatTensor("", {3}, {1, 2, 3})}}, "", ""}}, {"k"});
  const auto no = Branch({{"Relu", {"x"}, {"k"}, {}, "", ""}}, {"k"});
  model.graph.nodes = {If("c", yes, no, {"y"})};
  const Program program = ImportBytes(model.Bytes());
  EXPECT_EQ(program.blocks.size(), 3U);
  EXPECT_EQ(program.blocks[1].outputs.size(), 1U);
}

TEST(OnnxControlFlow, ABranchMayContradictTheShapes) {
  TestModel model = Choosing();
  const auto yes = Branch({{"Constant", {}, {"k"}, {{"value", FloatTensor("", {3}, {1, 2, 3})}}, "", ""},
                           {"Add", {"x", "k"}, {"s"}, {}, "", ""}},
                          {"s"});
  const auto no = Branch({{"Relu", {"x"}, {"r"}, {}, "", ""}}, {"r"});
  model.graph.nodes = {If("c", yes, no, {"y"})};
  const Program program = ImportBytes(model.Bytes());
  EXPECT_EQ(Types(program, 1), Names{"add"});
  EXPECT_EQ(ResultMeta(program), "f32[?]");
  // Not in what always runs.
  model.graph.nodes = yes->nodes;
  model.graph.outputs = {{"s", {}}};
  const std::string error = ImportError(model).what();
  EXPECT_NE(error.find("[3] do not broadcast"), std::string::npos) << error;
}

TEST(OnnxControlFlow, AKnownConditionLeavesOneBranch) {
  TestModel model = Choosing();
  TestTensor cond;
  cond.name = "k";
  cond.type = kTestBool;
  cond.raw = std::string(1, '\1');
  model.graph.initializers = {cond};
  const auto yes = Branch({{"Relu", {"x"}, {"r"}, {}, "", ""}}, {"r"});
  const auto no = Branch({{"Exp", {"x"}, {"r"}, {}, "", ""}}, {"r"});
  model.graph.nodes = {If("k", yes, no, {"y"})};
  EXPECT_EQ(Types(ImportBytes(model.Bytes())), Names{"relu"});
}

std::shared_ptr<TestGraph> Body(std::vector<TestValue> inputs, std::vector<TestNode> nodes, const Names& outputs) {
  auto graph = Branch(std::move(nodes), outputs);
  graph->inputs = std::move(inputs);
  return graph;
}
TestNode Loop(const Names& inputs, const std::shared_ptr<TestGraph>& body, const Names& outputs) {
  return {"Loop", inputs, outputs, {{"body", TestGraphRef{body}}}, "", "turns"};
}

TEST(OnnxControlFlow, LoopsCarryScanAndCapture) {
  TestModel model;
  model.graph.inputs = {{"x", {"N", int64_t{2}}}, {"n", {}, kTestInt64}};
  model.graph.outputs = {{"f", {}}, {"s", {}}};
  const auto body =
      Body({{"i", {}, kTestInt64}, {"c", {}, kTestBool}, {"v", {}}},
           {{"Add", {"v", "h"}, {"w"}, {}, "", ""}, {"Identity", {"c"}, {"d"}, {}, "", ""}}, {"d", "w", "w"});
  model.graph.nodes = {{"Exp", {"x"}, {"h"}, {}, "", ""}, Loop({"n", "", "x"}, body, {"f", "s"})};
  const Program program = ImportBytes(model.Bytes());
  EXPECT_EQ(Types(program), (Names{"exp", "loop"}));
  const OpDesc& loop = FindOp(program, "loop");
  EXPECT_EQ(loop.Input("carried"), Names{"x"});
  EXPECT_EQ(loop.Input("captures"), Names{"h"});
  EXPECT_TRUE(loop.Input("cond").empty());
  ASSERT_EQ(program.blocks.size(), 2U);
  EXPECT_EQ(program.blocks[1].inputs.size(), 4U);
  EXPECT_EQ(ResultMeta(program), "f32[N,2]");
}

// What is inferred about the first iteration must not be taken for all: here the shape would be folded to 1.
TEST(OnnxControlFlow, ALoopWhoseValueGrowsIsImportedForAnySize) {
  TestModel model;
  model.graph.inputs = {{"x", {int64_t{1}, int64_t{2}}}, {"n", {}, kTestInt64}};
  model.graph.outputs = {{"f", {}}};
  const auto body = Body({{"i", {}, kTestInt64}, {"c", {}, kTestBool}, {"v", {}}},
                         {{"Shape", {"v"}, {"size"}, {}, "", ""},
                          {"Reshape", {"v", "size"}, {"r"}, {}, "", ""},
                          {"Concat", {"r", "x"}, {"w"}, {{"axis", 0}}, "", ""}},
                         {"c", "w"});
  model.graph.nodes = {Loop({"n", "", "x"}, body, {"f"})};
  const Program program = ImportBytes(model.Bytes());
  ASSERT_EQ(program.blocks.size(), 2U);
  EXPECT_FALSE(program.blocks[1].values.at(program.blocks[1].inputs[2]).dims[0].known());
  EXPECT_EQ(program.blocks[1].values.at(program.blocks[1].inputs[2]).dims[1], Dim(2));
}

TEST(OnnxControlFlow, BodiesThatDoNotFit) {
  TestModel model;
  model.graph.inputs = {{"x", {int64_t{2}}}, {"n", {}, kTestInt64}};
  model.graph.outputs = {{"f", {}}};
  auto body = Body({{"i", {}, kTestInt64}, {"c", {}, kTestBool}}, {}, {"c", "i"});
  model.graph.nodes = {Loop({"n", "", "x"}, body, {"f"})};
  EXPECT_NE(ImportError(model).message().find("its body has 2 inputs and 2 outputs, expected 3 inputs"),
            std::string::npos);
  body->inputs.push_back({"v", {int64_t{2}}});
  body->initializers = {FloatTensor("v", {2}, {1, 2})};
  EXPECT_NE(ImportError(model).message().find("input 'v' of its body is an initializer"), std::string::npos);
}

TEST(OnnxControlFlow, ScansAreLoopsOverSlices) {
  TestModel model;
  model.graph.inputs = {{"s", {int64_t{3}}}, {"x", {int64_t{3}, "T"}}};
  model.graph.outputs = {{"f", {}}, {"y", {}}};
  const auto body = Body({{"a", {}}, {"b", {}}}, {{"Add", {"a", "b"}, {"w"}, {}, "", ""}}, {"w", "w"});
  TestNode scan{"Scan",
                {"s", "x"},
                {"f", "y"},
                {{"body", TestGraphRef{body}},
                 {"num_scan_inputs", 1},
                 {"scan_input_axes", std::vector<int64_t>{1}},
                 {"scan_input_directions", std::vector<int64_t>{1}},
                 {"scan_output_directions", std::vector<int64_t>{1}},
                 {"scan_output_axes", std::vector<int64_t>{-1}}},
                "",
                ""};
  model.graph.nodes = {scan};
  const Program program = ImportBytes(model.Bytes());
  ASSERT_EQ(program.blocks.size(), 2U);
  EXPECT_EQ(Types(program, 1), (Names{"subtract", "gather", "add"}));
  EXPECT_EQ(ResultMeta(program), "f32[3]");
  const Names types = Types(program);
  EXPECT_EQ(types.back(), "transpose");
}

TEST(OnnxControlFlow, SequencesKnowTheirElementType) {
  TestModel model;
  model.graph.inputs = {{"x", {int64_t{2}}, kTestInt32}, {"i", {}, kTestInt64}};
  model.graph.outputs = {{"y", {}}};
  model.graph.nodes = {{"SequenceConstruct", {"x", "x"}, {"s"}, {}, "", ""},
                       {"SequenceInsert", {"s", "x", "i"}, {"t"}, {}, "", ""},
                       {"SequenceAt", {"t", "i"}, {"y"}, {}, "", ""}};
  EXPECT_EQ(ResultMeta(ImportBytes(model.Bytes())), "i32[?]");
  model.graph.nodes[2].inputs[0] = "x";
  EXPECT_NE(ImportError(model).message().find("expected a sequence"), std::string::npos);
}

TEST(OnnxControlFlow, OuterNamesMayBeShadowed) {
  TestModel model = Choosing();
  auto yes = Branch({{"Add", {"w", "x"}, {"r"}, {}, "", ""}}, {"r"});
  yes->initializers = {FloatTensor("w", {2}, {1, 2})};
  model.graph.initializers = {FloatTensor("w", {3}, {1, 2, 3})};
  model.graph.nodes = {If("c", yes, Branch({}, {"x"}), {"y"})};
  EXPECT_EQ(ResultMeta(ImportBytes(model.Bytes())), "f32[2]");
}

TEST(OnnxControlFlow, WhatIsWrongInABranch) {
  TestModel model = Choosing();
  model.graph.nodes = {If("c", Branch({}, {"x"}), Branch({}, {"x", "x"}), {"y"})};
  EXPECT_EQ(ImportError(model).code(), ErrorCode::kCorrupt);
  model.graph.nodes = {If("c", Branch({}, {"nowhere"}), Branch({}, {"x"}), {"y"})};
  EXPECT_EQ(ImportError(model).code(), ErrorCode::kCorrupt);
  model.graph.nodes = {{"If", {"c"}, {"y"}, {}, "", ""}};
  EXPECT_EQ(ImportError(model).code(), ErrorCode::kCorrupt);
  // What is not supported in a branch is reported with the rest.
  model.graph.nodes = {If("c", Branch({{"NoSuch", {"x"}, {"r"}, {}, "", ""}}, {"r"}), Branch({}, {"x"}), {"z"}),
                       {"NorThis", {"z"}, {"y"}, {}, "", ""}};
  const Error error = ImportError(model);
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  for (const char* part : {"'NoSuch'", "'NorThis'"}) {
    EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
  }
}

TEST(OnnxControlFlow, NestingIsBounded) {
  std::shared_ptr<TestGraph> graph = Branch({{"Relu", {"x"}, {"r"}, {}, "", ""}}, {"r"});
  TestModel model = Choosing();
  const auto nest = [&](int times) {
    for (int i = 0; i < times; ++i) graph = Branch({If("c", graph, Branch({}, {"x"}), {"n"})}, {"n"});
    model.graph.nodes = {If("c", graph, Branch({}, {"x"}), {"y"})};
  };
  nest(20);
  EXPECT_EQ(ImportBytes(model.Bytes()).blocks.size(), 2U * 21 + 1);
  nest(100);
  EXPECT_EQ(ImportError(model).code(), ErrorCode::kUnsupported);
}

TestModel Calling() {
  TestModel model = Choosing();
  model.opsets.emplace_back("f", 1);
  model.graph.nodes = {{"Twice", {"x"}, {"y"}, {{"slope", 0.25F}}, "f", "call"}};
  TestFunction twice;
  twice.domain = "f";
  twice.name = "Twice";
  twice.inputs = {"a", "optional"};
  twice.outputs = {"b"};
  twice.attributes = {"slope"};
  twice.nodes = {{"LeakyRelu", {"a"}, {"x"}, {{"alpha", TestReference{"slope"}}}, "", ""},
                 {"Clip", {"x", "optional"}, {"b"}, {}, "", ""}};
  model.functions = {twice};
  return model;
}

TEST(OnnxFunctions, ABodyStandsForTheCall) {
  const Program program = ImportBytes(Calling().Bytes());
  EXPECT_EQ(Types(program), (Names{"leaky_relu", "clip"}));
  EXPECT_EQ(FindOp(program, "leaky_relu").GetAttr<double>("negative_slope"), 0.25);
  EXPECT_EQ(FindOp(program, "leaky_relu").Input("x"), Names{"x"});
  // A function sees no names of its caller.
  TestModel model = Calling();
  model.functions[0].nodes[0].inputs[0] = "c";
  EXPECT_EQ(ImportError(model).code(), ErrorCode::kCorrupt);
  model = Calling();
  model.graph.nodes[0].inputs = {"x", "x", "x"};
  EXPECT_EQ(ImportError(model).code(), ErrorCode::kCorrupt);
}

TEST(OnnxFunctions, CallsInCirclesAreToldAndGrowthIsBounded) {
  TestModel model = Calling();
  model.functions[0].nodes[1] = {"Twice", {"x"}, {"b"}, {}, "f", ""};
  const Error error = ImportError(model);
  EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
  EXPECT_NE(std::string(error.what()).find("recursion"), std::string::npos) << error.what();
  // Each function calls the next one twice.
  model = Calling();
  model.functions.clear();
  model.graph.nodes[0].type = "F0";
  for (int i = 0; i < 60; ++i) {
    TestFunction function;
    function.domain = "f";
    function.name = "F" + std::to_string(i);
    function.inputs = {"a"};
    function.outputs = {"b"};
    const std::string next = "F" + std::to_string(i + 1);
    function.nodes = {{next, {"a"}, {"m"}, {}, "f", ""}, {next, {"m"}, {"b"}, {}, "f", ""}};
    if (i == 59) function.nodes = {{"Identity", {"a"}, {"b"}, {}, "", ""}};
    model.functions.push_back(function);
  }
  EXPECT_EQ(ImportError(model).code(), ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace wherry::onnx
