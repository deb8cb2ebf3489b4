// Sequences one behind the other: where their lengths come from, and what goes on to other values.
#include <gtest/gtest.h>

#include "base/file_test_util.h"
#include "importers/paddle/one_op_test_util.h"

namespace wherry::paddle {
namespace {

using Numbers = std::vector<int>;

// The program of lod_reset (of rows that end at 2, 5 and 6) and what follows it.
Program ImportAfterReset(const std::vector<int64_t>& dims, const std::vector<TestOp>& ops, const std::string& out) {
  TestModel model;
  model.AddInput("x", dims);
  model.AddOp({"lod_reset", {{"X", {"x"}}}, {{"Out", {"rows"}}}, {{"target_lod", Numbers{0, 2, 5, 6}}}});
  for (const TestOp& op : ops) model.AddOp(op);
  model.AddOutput(out);
  Program program = ImportBytes(model.Bytes());
  InferProgram(&program);
  return program;
}

TEST(PaddleSequence, LengthsGoOnToResultsOfAsManyRows) {
  const TestOp relu{"relu", {{"X", {"rows"}}}, {{"Out", {"r"}}}, {}};
  const TestOp pool{"sequence_pool", {{"X", {"r"}}}, {{"Out", {"y"}}}, {{"pooltype", "SUM"}}};
  EXPECT_EQ(MetaOf(ImportAfterReset({6, 4}, {relu, pool}, "y")), "f32[3,4]");
}

TEST(PaddleSequence, PaddedRowsHaveStepsOfTheirOwn) {
  TestModel model;
  model.AddInput("x", {6, 4});
  model.AddInput("zero", {1});
  model.AddOp({"lod_reset", {{"X", {"x"}}}, {{"Out", {"rows"}}}, {{"target_lod", Numbers{0, 2, 6}}}});
  model.AddOp({"sequence_pad",
               {{"X", {"rows"}}, {"PadValue", {"zero"}}},
               {{"Out", {"y"}}, {"Length", {"n"}}},
               {{"padded_length", 5}}});
  model.AddOutput("y");
  model.AddOutput("n");
  Program program = ImportBytes(model.Bytes());
  InferProgram(&program);
  EXPECT_EQ(MetaOf(program, 0), "f32[2,5,4]");
  EXPECT_EQ(MetaOf(program, 1), "i64[2] = [2, 4]");
}

TEST(PaddleSequence, WindowsOfAnImageAreSequences) {
  TestModel model;
  model.AddInput("x", {2, 3, 4, 7});
  model.AddOp({"im2sequence", {{"X", {"x"}}}, {{"Out", {"rows"}}}, {{"kernels", Numbers{4, 1}}}});
  model.AddOp({"sequence_pool", {{"X", {"rows"}}}, {{"Out", {"y"}}}, {{"pooltype", "LAST"}}});
  model.AddOutput("y");
  Program program = ImportBytes(model.Bytes());
  InferProgram(&program);
  EXPECT_EQ(MetaOf(program), "f32[2,12]");
}

TEST(PaddleSequence, RecurrentLayersKeepTheRows) {
  for (const bool reverse : {false, true}) {
    TestModel model;
    model.AddInput("x", {6, 12});
    model.AddInput("w", {3, 12});
    model.AddInput("b", {1, 21});
    model.AddOp({"lod_reset", {{"X", {"x"}}}, {{"Out", {"rows"}}}, {{"target_lod", Numbers{0, 2, 5, 6}}}});
    model.AddOp({"lstm",
                 {{"Input", {"rows"}}, {"Weight", {"w"}}, {"Bias", {"b"}}},
                 {{"Hidden", {"y"}}},
                 {{"is_reverse", reverse}}});
    model.AddOutput("y");
    const Program program = ImportBytes(model.Bytes());
    const OpDesc& rnn = FindOp(program, "rnn");
    EXPECT_EQ(rnn.GetAttr<std::string>("direction"), reverse ? "reverse" : "forward");
    EXPECT_TRUE(rnn.HasInput("peephole"));
  }
}

TEST(PaddleSequence, RowsWithoutLengthsAreNotGuessed) {
  TestModel model;
  model.AddInput("x", {6, 4});
  model.AddOp({"sequence_pool", {{"X", {"x"}}}, {{"Out", {"y"}}}, {{"pooltype", "SUM"}}});
  model.AddOutput("y");
  try {
    ImportBytes(model.Bytes());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_NE(error.message().find("LoD"), std::string::npos) << error.message();
  }
}

}  // namespace
}  // namespace wherry::paddle
