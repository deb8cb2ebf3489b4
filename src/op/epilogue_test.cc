#include "op/epilogue.h"

#include <gtest/gtest.h>

#include "wherry/error.h"

namespace wherry {
namespace {

TEST(ActKind, NamesParseBack) {
  for (int i = 0; i < kActKinds; ++i) {
    const auto kind = static_cast<ActKind>(i);
    EXPECT_EQ(ParseActKind(ToString(kind)), kind);
  }
  EXPECT_STREQ(ToString(ActKind::kHardSwish), "hardswish");
  EXPECT_STREQ(ToString(ActKind::kGeluTanh), "gelu_tanh");
  EXPECT_STREQ(ToString(static_cast<ActKind>(200)), "invalid");
  EXPECT_THROW(ParseActKind("relu7"), Error);
}

TEST(Epilogue, TextReadsBack) {
  for (const char* text :
       {"", "relu", "bias(0), add(1), relu", "scale(0), bias(1), leaky_relu(0.1)", "clip(-inf, 6.0)",
        "swish(1.0), hardsigmoid(0.2, 0.5)", "softplus(1.0, 20.0)", "relu(0.0, 2.0)", "relu(-0.0)"}) {
    EXPECT_EQ(ToString(ParseEpilogue(text)), text);
  }
  const Epilogue epilogue = ParseEpilogue(" scale( 3 ),clip(0,6) ");
  ASSERT_EQ(epilogue.steps.size(), 2U);
  EXPECT_EQ(epilogue.steps[0].kind, EpilogueStep::Kind::kScale);
  EXPECT_EQ(epilogue.steps[0].operand, 3);
  EXPECT_EQ(epilogue.steps[1].act, ActKind::kClip);
  EXPECT_EQ(epilogue.steps[1].b, 6.0F);
  EXPECT_EQ(epilogue.steps[1].operand, -1);
}

TEST(Epilogue, RefusesWhatIsNone) {
  for (const char* text : {"bias", "bias(", "bias()", "bias(x)", "relu,", ",relu", "clip", "clip(1.0)", "relu(1, 2, 3)",
                           "foo", "relu relu", "bias(99999999999)", "relu, relu, relu, relu, relu, relu, relu"}) {
    EXPECT_THROW(ParseEpilogue(text), Error) << text;
  }
}

TEST(Epilogue, ValidateChecksOperands) {
  EXPECT_NO_THROW(Validate(ParseEpilogue("bias(0), add(1), relu"), 2));
  EXPECT_THROW(Validate(ParseEpilogue("bias(0), add(1), relu"), 1), Error);
  EXPECT_THROW(Validate(ParseEpilogue("bias(-1)"), 1), Error);
  Epilogue epilogue = ParseEpilogue("relu");
  epilogue.steps[0].operand = 0;
  EXPECT_THROW(Validate(epilogue, 1), Error);
  epilogue.steps[0] = {EpilogueStep::Kind::kAct, static_cast<ActKind>(99), 0, 0, -1};
  EXPECT_THROW(Validate(epilogue, 1), Error);
  epilogue.steps[0] = {static_cast<EpilogueStep::Kind>(9), ActKind::kRelu, 0, 0, 0};
  EXPECT_THROW(Validate(epilogue, 1), Error);
  epilogue.steps.assign(7, EpilogueStep{});
  EXPECT_THROW(Validate(epilogue, 1), Error);
}

TEST(ElementwiseProgram, TextReadsBack) {
  for (const char* text : {"2: add(0, 1); relu(2); mul(3, 0)", "1: constant(0.5); max(0, 1); clip(2, 0.0, 6.0)",
                           "0:", "1: erf(0)", "3: sub(0, 1); div(3, 2); min(3, 4); pow(5, 5); leaky_relu(6, 0.01)"}) {
    EXPECT_EQ(ToString(ParseElementwiseProgram(text)), text);
  }
  const ElementwiseProgram program = ParseElementwiseProgram("1:swish(0,1)");
  EXPECT_EQ(program.instructions[0].op, ElementwiseInstruction::Op::kAct);
  EXPECT_EQ(program.instructions[0].lhs, 0);
  EXPECT_EQ(program.instructions[0].rhs, -1);
  EXPECT_EQ(program.instructions[0].a, 1.0F);
}

TEST(ElementwiseProgram, RefusesWhatIsNone) {
  for (const char* text : {"", "2", "x:", "1: add(0)", "1: add(0, 1, 2)", "1: clip(0)", "1: relu()", "1: relu(0);",
                           "1: foo(0)", "1: constant()", "1: relu(0) relu(0)"}) {
    EXPECT_THROW(ParseElementwiseProgram(text), Error) << text;
  }
  std::string many = "1: relu(0)";
  for (int i = 0; i < 16; ++i) many += "; relu(0)";
  EXPECT_THROW(ParseElementwiseProgram(many), Error);
}

TEST(ElementwiseProgram, ValidateChecksRegistersAndLimits) {
  EXPECT_NO_THROW(Validate(ParseElementwiseProgram("2: add(0, 1); constant(2.0); mul(2, 3); relu(4)")));
  EXPECT_NO_THROW(Validate(ParseElementwiseProgram("0: constant(2.0)")));
  for (const char* text : {"2: add(0, 2)", "1: relu(-1)", "1: add(1, 0)", "9: relu(0)", "1:", "-1: constant(1.0)"}) {
    EXPECT_THROW(Validate(ParseElementwiseProgram(text)), Error) << text;
  }
  ElementwiseProgram program = ParseElementwiseProgram("1: relu(0)");
  program.instructions[0].op = static_cast<ElementwiseInstruction::Op>(77);
  EXPECT_THROW(Validate(program), Error);
  program = ParseElementwiseProgram("1: relu(0)");
  program.instructions[0].act = static_cast<ActKind>(77);
  EXPECT_THROW(Validate(program), Error);
  program = ParseElementwiseProgram("1: relu(0)");
  program.instructions.resize(17, program.instructions[0]);
  EXPECT_THROW(Validate(program), Error);
}

}  // namespace
}  // namespace wherry
