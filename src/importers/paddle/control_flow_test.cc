#include <gtest/gtest.h>

#include "base/file_test_util.h"
#include "importers/paddle/model_test_util.h"

namespace wherry::paddle {
namespace {

// y = c ? relu(x) : exp(x), as paddle.static.nn.cond writes it.
TestModel Cond() {
  TestModel model;
  model.AddInput("c", {1}, 0);
  model.AddInput("x", {2});
  model.AddVar("t", {2});
  model.AddVar("f", {2});
  model.AddVar("y", {2});
  model.AddOp({"conditional_block",
               {{"Cond", {"c"}}, {"Input", {"x"}}},
               {{"Out", {"t"}}, {"Scope", {"s"}}},
               {{"sub_block", TestBlockRef{1}}}});
  model.AddOp({"logical_not", {{"X", {"c"}}}, {{"Out", {"n"}}}, {}});
  model.AddOp({"conditional_block",
               {{"Cond", {"n"}}, {"Input", {"x"}}},
               {{"Out", {"f"}}, {"Scope", {"s"}}},
               {{"sub_block", TestBlockRef{2}}}});
  model.AddOp({"cast", {{"X", {"c"}}}, {{"Out", {"m"}}}, {{"in_dtype", 0}, {"out_dtype", 2}}});
  model.AddOp({"select_input", {{"X", {"f", "t"}}, {"Mask", {"m"}}}, {{"Out", {"y"}}}, {}});
  model.AddOutput("y");
  model.AddOp({"relu", {{"X", {"x"}}}, {{"Out", {"r"}}}, {}}, 1);
  model.AddOp({"assign", {{"X", {"r"}}}, {{"Out", {"t"}}}, {}}, 1);
  model.AddOp({"exp", {{"X", {"x"}}}, {{"Out", {"e"}}}, {}}, 2);
  model.AddOp({"assign", {{"X", {"e"}}}, {{"Out", {"f"}}}, {}}, 2);
  return model;
}

TEST(PaddleControlFlow, TwoConditionalBlocksAreAnIf) {
  const Program program = ImportBytes(Cond().Bytes());
  const OpDesc& op = FindOp(program, "if");
  EXPECT_EQ(op.Input("cond"), std::vector<std::string>{"c"});
  EXPECT_EQ(op.Input("captures"), std::vector<std::string>{"x"});
  ASSERT_EQ(op.blocks(), (std::vector<int>{1, 2}));
  EXPECT_EQ(program.blocks[1].ops[0].Type(), "relu");
  EXPECT_EQ(program.blocks[2].ops[0].Type(), "exp");
  EXPECT_EQ(program.main().outputs, op.Output("out"));
}

TEST(PaddleControlFlow, OneConditionalBlockKeepsTheOldValue) {
  TestModel model;
  model.AddInput("c", {1}, 0);
  model.AddInput("x", {2});
  model.AddVar("y", {2});
  model.AddOp({"exp", {{"X", {"x"}}}, {{"Out", {"y"}}}, {}});
  model.AddOp({"conditional_block", {{"Cond", {"c"}}}, {{"Out", {"y"}}}, {{"sub_block", TestBlockRef{1}}}});
  model.AddOp({"relu", {{"X", {"y"}}}, {{"Out", {"y"}}}, {}}, 1);
  model.AddOutput("y");
  const Program program = ImportBytes(model.Bytes());
  const OpDesc& op = FindOp(program, "if");
  EXPECT_EQ(program.blocks[1].ops[0].Type(), "relu");
  EXPECT_TRUE(program.blocks[2].ops.empty());
  EXPECT_EQ(program.blocks[2].outputs, FindOp(program, "exp").Output("out"));
  EXPECT_EQ(program.main().outputs, op.Output("out"));
}

// What a block writes of an outer one would be lost, or the value before be taken for it.
TEST(PaddleControlFlow, WritesThatAreNotAmongTheOutputsAreErrors) {
  const auto model_of = [](const std::vector<std::string>& outs) {
    TestModel model;
    model.AddInput("c", {1}, 0);
    model.AddInput("x", {2});
    for (const char* name : {"y", "z"}) model.AddVar(name, {2});
    model.AddOp({"exp", {{"X", {"x"}}}, {{"Out", {"y"}}}, {}});
    model.AddOp({"conditional_block", {{"Cond", {"c"}}}, {{"Out", outs}}, {{"sub_block", TestBlockRef{1}}}});
    model.AddOp({"relu", {{"X", {"y"}}}, {{"Out", {"y"}}}, {}}, 1);
    model.AddOutput("y");
    return model;
  };
  const Error lost = ErrorOf([&] { ImportBytes(model_of({}).Bytes()); });
  EXPECT_EQ(lost.code(), ErrorCode::kCorrupt);
  EXPECT_NE(lost.message().find("its block writes 'y' of an outer block"), std::string::npos) << lost.message();
  // An output that is absent keeps its place.
  const Program program = ImportBytes(model_of({"@EMPTY@", "y"}).Bytes());
  EXPECT_EQ(program.main().outputs, FindOp(program, "if").Output("out"));
  // z has no value before, so a choice is awaited, and y would keep its old value.
  TestModel mixed = model_of({"y", "z"});
  mixed.AddOp({"tanh", {{"X", {"y"}}}, {{"Out", {"z"}}}, {}}, 1);
  EXPECT_EQ(ErrorOf([&] { ImportBytes(mixed.Bytes()); }).code(), ErrorCode::kUnsupported);
  // Within a loop, whose body does not say what its inner block writes.
  TestModel loop;
  loop.AddInput("c", {1}, 0);
  loop.AddInput("x", {2});
  loop.AddVar("y", {2});
  loop.AddOp({"exp", {{"X", {"x"}}}, {{"Out", {"y"}}}, {}});
  loop.AddOp({"while", {{"Condition", {"c"}}}, {{"Out", {"y"}}}, {{"sub_block", TestBlockRef{1}}}});
  loop.AddOp({"while", {{"Condition", {"c"}}}, {}, {{"sub_block", TestBlockRef{2}}}}, 1);
  loop.AddOp({"relu", {{"X", {"y"}}}, {{"Out", {"y"}}}, {}}, 2);
  loop.AddOutput("y");
  EXPECT_EQ(ErrorOf([&] { ImportBytes(loop.Bytes()); }).code(), ErrorCode::kCorrupt);
}

// while c: a[i] = y; y = relu(y); c = less_than(...), as paddle.static.nn.while_loop writes it.
TEST(PaddleControlFlow, WhileCarriesWhatItsBlockWrites) {
  TestModel model;
  model.AddInput("c", {1}, 0);
  model.AddInput("x", {2});
  model.AddInput("i", {1}, 3);
  model.AddVar("y", {2});
  model.AddVar("z", {-1});
  model.AddOp({"exp", {{"X", {"x"}}}, {{"Out", {"y"}}}, {}});
  model.AddOp({"write_to_array", {{"X", {"y"}}, {"I", {"i"}}}, {{"Out", {"a"}}}, {}});
  model.AddOp({"while",
               {{"X", {"y", "i"}}, {"Condition", {"c"}}},
               {{"Out", {"y", "c"}}, {"StepScopes", {"scopes"}}},
               {{"sub_block", TestBlockRef{1}}}});
  model.AddOp({"tensor_array_to_tensor", {{"X", {"a"}}}, {{"Out", {"z"}}, {"OutIndex", {"k"}}}, {{"axis", 0}}});
  model.AddOp({"write_to_array", {{"X", {"y"}}, {"I", {"i"}}}, {{"Out", {"a"}}}, {}}, 1);
  model.AddOp({"relu", {{"X", {"y"}}}, {{"Out", {"y"}}}, {}}, 1);
  model.AddOp({"less_than", {{"X", {"i"}}, {"Y", {"i"}}}, {{"Out", {"c"}}}, {}}, 1);
  model.AddOutput("z");
  const Program program = ImportBytes(model.Bytes());
  const OpDesc& loop = FindOp(program, "loop");
  EXPECT_EQ(loop.Input("cond"), std::vector<std::string>{"c"});
  EXPECT_EQ(loop.Input("carried").size(), 3U);  // a, y, c
  EXPECT_EQ(loop.Input("captures"), std::vector<std::string>{"i"});
  ASSERT_EQ(program.blocks.size(), 2U);
  EXPECT_EQ(program.blocks[1].ops[0].Type(), "sequence_write");
  EXPECT_EQ(FindOp(program, "sequence_concat").Input("sequence"), std::vector<std::string>{loop.Output("finals")[0]});
}

TEST(PaddleControlFlow, ChoicesThatAreNoIfAreUnsupported) {
  TestModel model = Cond();
  model.blocks[0].ops[6].inputs[0].second = {"t", "f"};  // the wrong way round
  EXPECT_EQ(ErrorOf([&] { ImportBytes(model.Bytes()); }).code(), ErrorCode::kUnsupported);
  model = Cond();
  model.blocks[0].ops[6].inputs[0].second = {"f", "x"};
  EXPECT_EQ(ErrorOf([&] { ImportBytes(model.Bytes()); }).code(), ErrorCode::kUnsupported);
}

TEST(PaddleControlFlow, ABlockIsChosenAgainstOneOther) {
  TestModel model = Cond();
  model.AddVar("g", {2});
  model.AddVar("z", {2});
  model.AddOp({"conditional_block", {{"Cond", {"n"}}}, {{"Out", {"g"}}}, {{"sub_block", TestBlockRef{3}}}});
  model.AddOp({"select_input", {{"X", {"g", "t"}}, {"Mask", {"m"}}}, {{"Out", {"z"}}}, {}});
  model.AddOp({"tanh", {{"X", {"x"}}}, {{"Out", {"g"}}}, {}}, 3);
  EXPECT_EQ(ErrorOf([&] { ImportBytes(model.Bytes()); }).code(), ErrorCode::kUnsupported);
}

TEST(PaddleControlFlow, UnsupportedOperatorsInsideAreReported) {
  TestModel model = Cond();
  model.blocks[2].ops[0].type = "no_such_op";
  const Error error = ErrorOf([&] { ImportBytes(model.Bytes()); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_NE(error.message().find("'no_such_op' (1 place: block 2, number 0"), std::string::npos) << error.message();
}

TEST(PaddleControlFlow, BlocksBelongToOneOperator) {
  TestModel model = Cond();
  model.blocks[0].ops[4].attrs[0].second = TestBlockRef{1};
  EXPECT_EQ(ErrorOf([&] { ImportBytes(model.Bytes()); }).code(), ErrorCode::kCorrupt);
  for (const int block : {-1, 0, 3, 1000000}) {
    model.blocks[0].ops[4].attrs[0].second = TestBlockRef{block};
    EXPECT_EQ(ErrorOf([&] { ImportBytes(model.Bytes()); }).code(), ErrorCode::kCorrupt) << block;
  }
}

TEST(PaddleControlFlow, DeepNestingIsRefused) {
  TestModel model;
  model.AddInput("c", {1}, 0);
  model.AddInput("x", {2});
  model.AddVar("y", {2});
  model.AddOp({"exp", {{"X", {"x"}}}, {{"Out", {"y"}}}, {}});
  constexpr int kDepth = 1000;
  for (int i = 0; i < kDepth; ++i) {
    model.AddOp({"conditional_block", {{"Cond", {"c"}}}, {{"Out", {"y"}}}, {{"sub_block", TestBlockRef{i + 1}}}},
                static_cast<size_t>(i));
  }
  model.AddOp({"relu", {{"X", {"y"}}}, {{"Out", {"y"}}}, {}}, kDepth);
  model.AddOutput("y");
  EXPECT_EQ(ErrorOf([&] { ImportBytes(model.Bytes()); }).code(), ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace wherry::paddle
