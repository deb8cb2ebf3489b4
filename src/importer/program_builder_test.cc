#include "importer/program_builder.h"

#include <gtest/gtest.h>

#include "base/file_test_util.h"
#include "importer/constant_tensor.h"

namespace wherry {
namespace {

OpDesc Op(const std::string& type, const std::map<std::string, std::vector<std::string>>& inputs) {
  OpDesc op(type);
  for (const auto& [param, values] : inputs) op.SetInput(param, values);
  return op;
}

TEST(ProgramBuilder, NamesAreUnique) {
  ProgramBuilder builder;
  EXPECT_EQ(builder.UniqueName("a"), "a");
  EXPECT_EQ(builder.UniqueName("a"), "a.1");
  EXPECT_EQ(builder.UniqueName("a.1"), "a.1.1");
  EXPECT_EQ(builder.UniqueName("a"), "a.2");
  EXPECT_EQ(builder.UniqueName(""), "value");
}

TEST(ProgramBuilder, InfersAsItGoes) {
  ProgramBuilder builder;
  BlockBuilder& block = builder.main();
  const Dim n = builder.NewDim("n");
  const std::string x = block.AddInput("x", MetaTensor(DataType::kFloat, {n, 3}));
  const std::string w = builder.AddWeight("w", FilledTensor({3, 4}, 1.0F, DataType::kFloat));
  const std::string y = block.Add(Op("matmul", {{"x", {x}}, {"y", {w}}}), {"y"})[0];
  EXPECT_EQ(block.Meta(y).dims, (std::vector<Dim>{n, 4}));
  block.SetOutputs({y});
  const Program program = builder.Finish();
  EXPECT_EQ(program.main().inputs, std::vector<std::string>{"x"});
  EXPECT_EQ(program.main().outputs, std::vector<std::string>{"y"});
  EXPECT_EQ(program.weights.size(), 1U);
}

TEST(ProgramBuilder, UnusedConstantsAreDropped) {
  ProgramBuilder builder;
  const std::string x = builder.main().AddInput("x", MetaTensor(DataType::kFloat, {2}));
  builder.AddConstant("unused", IntsTensor({1, 2}));
  const std::string used = builder.AddConstant("used", FilledTensor({2}, 1.0F, DataType::kFloat));
  builder.AddWeight("weight", IntsTensor({1, 2}));
  builder.main().SetOutputs({builder.main().Add(Op("add", {{"x", {x}}, {"y", {used}}}), {"y"})[0]});
  const Program program = builder.Finish();
  EXPECT_EQ(program.weights.count("unused"), 0U);
  EXPECT_EQ(program.weights.count("used"), 1U);
  EXPECT_EQ(program.weights.count("weight"), 1U);
}

TEST(ProgramBuilder, RanksHaveALimit) {
  ProgramBuilder builder;
  const std::string x = builder.main().AddInput("x", MetaTensor(DataType::kFloat, {1}));
  OpDesc op = Op("reshape", {{"x", {x}}});
  op.SetAttribute("shape", IntArray(std::vector<int64_t>(Shape::kMaxRank + 1, 1)));
  EXPECT_EQ(ErrorOf([&] { builder.main().Add(op, {"y"}); }).code(), ErrorCode::kUnsupported);
}

TEST(ProgramBuilder, ConstantsHaveALimit) {
  ProgramBuilder builder;
  const DenseTensor big = FilledTensor({1 << 20}, 1.0F, DataType::kFP64);
  const auto add = [&](size_t most) {
    for (size_t bytes = 0; bytes < most; bytes += big.nbytes()) builder.AddConstant("c", big);
  };
  add(ProgramBuilder::kMostConstantBytes);
  EXPECT_EQ(ErrorOf([&] { add(1); }).code(), ErrorCode::kResourceExhausted);
  // A large file may have large weights.
  builder.SetFileBytes(ProgramBuilder::kMostConstantBytes);
  add(ProgramBuilder::kConstantsPerByte * ProgramBuilder::kMostConstantBytes - big.nbytes());
  EXPECT_EQ(ErrorOf([&] { add(1); }).code(), ErrorCode::kResourceExhausted);
}

TEST(ProgramBuilder, ResultsAreValuesOfTheirOwn) {
  ProgramBuilder builder;
  const std::string x = builder.main().AddInput("x", MetaTensor(DataType::kFloat, {2}));
  const std::string w = builder.AddWeight("w", FilledTensor({2}, 1.0F, DataType::kFloat));
  const std::string y = builder.main().Add(Op("relu", {{"x", {x}}}), {"y"})[0];
  builder.main().SetOutputs({x, w, y, y}, {"a", "b", "c", "d"});
  const Program program = builder.Finish();
  EXPECT_EQ(program.main().outputs, (std::vector<std::string>{"x.out", "w.out", "y", "y.out"}));
  EXPECT_EQ(program.main().output_names, (std::vector<std::string>{"a", "b", "c", "d"}));
}

TEST(ProgramBuilder, BranchesGetTheSameCaptures) {
  ProgramBuilder builder;
  BlockBuilder& main = builder.main();
  const std::string c = main.AddInput("c", MetaTensor(DataType::kBool, {1}));
  const std::string x = main.AddInput("x", MetaTensor(DataType::kFloat, {2}));
  const std::string y = main.AddInput("y", MetaTensor(DataType::kFloat, {3}));
  BlockBuilder& yes = builder.NewBlock();
  yes.Capture(main, x);
  yes.SetOutputs({yes.Add(Op("relu", {{"x", {x}}}), {"r"})});
  BlockBuilder& no = builder.NewBlock();
  no.Capture(main, y);
  no.SetOutputs({no.Add(Op("exp", {{"x", {y}}}), {"e"})});
  const std::string z = main.AddIf(c, &yes, &no, {"z"}, "if_0")[0];
  EXPECT_EQ(main.Meta(z).rank(), 1);
  EXPECT_FALSE(main.Meta(z).dims[0].known());
  main.SetOutputs({z});
  const Program program = builder.Finish();
  EXPECT_EQ(program.main().ops[0].Input("captures"), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(program.blocks[1].inputs, program.blocks[2].inputs);
}

TEST(ProgramBuilder, AWrongOpIsAnErrorThatNamesIt) {
  ProgramBuilder builder;
  const std::string x = builder.main().AddInput("x", MetaTensor(DataType::kFloat, {2, 3}));
  const Error error = ErrorOf([&] { builder.main().Add(Op("matmul", {{"x", {x}}, {"y", {x}}}), {"y"}); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(std::string(error.what()).find("matmul"), std::string::npos) << error.what();
  // Nothing was left behind.
  builder.main().SetOutputs({builder.main().Add(Op("relu", {{"x", {x}}}), {"y"})[0]});
  EXPECT_EQ(builder.Finish().main().ops.size(), 1U);
}

}  // namespace
}  // namespace wherry
