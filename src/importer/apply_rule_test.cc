#include "importer/apply_rule.h"

#include <gtest/gtest.h>

#include "base/file_test_util.h"
#include "importer/constant_tensor.h"
#include "importer/unsupported_ops.h"

namespace wherry {
namespace {

ForeignOp PaddleOp(const std::string& type, std::vector<ForeignOp::Slot> inputs, AttributeMap attrs = {}) {
  ForeignOp op;
  op.format = "paddle";
  op.type = type;
  op.inputs = std::move(inputs);
  op.outputs = {{"Out", {"out"}}};
  op.attrs = std::move(attrs);
  op.data_type_of = [](int64_t number) { return number == 2 ? DataType::kInt32 : DataType::kUndefined; };
  return op;
}

class ApplyRule : public testing::Test {
 protected:
  ApplyRule() { x_ = builder_.main().AddInput("x", MetaTensor(DataType::kFloat, {2, 3, 1})); }

  // Converts by the op's rule and returns what was added last.
  OpDesc Apply(const ForeignOp& op) {
    ConvertContext context(op, &builder_.main());
    EXPECT_TRUE(ConvertOp(&context, &context));
    results_ = context.results();
    ProgramBuilder& builder = builder_;
    builder.main().SetOutputs({results_.at(0).second});
    Program program = builder.Finish();
    return program.main().ops.back();
  }

  ProgramBuilder builder_;
  std::string x_;
  std::vector<std::pair<std::string, std::string>> results_;
};

TEST_F(ApplyRule, RenamesInputsAttributesAndResults) {
  const OpDesc op = Apply(PaddleOp("leaky_relu", {{"X", {x_}}}, {{"alpha", 0.3}, {"op_role", int64_t{0}}}));
  EXPECT_EQ(op.Type(), "leaky_relu");
  EXPECT_EQ(op.Input("x"), std::vector<std::string>{"x"});
  EXPECT_EQ(op.GetAttr<double>("negative_slope"), 0.3);
  EXPECT_EQ(results_[0].first, "out");
}

TEST_F(ApplyRule, DefaultsHoldWhereAnAttributeIsAbsent) {
  EXPECT_EQ(Apply(PaddleOp("leaky_relu", {{"X", {x_}}})).GetAttr<double>("negative_slope"), 0.02);
}

TEST_F(ApplyRule, TypesMayBeNumbers) {
  const OpDesc op = Apply(PaddleOp("arg_max", {{"X", {x_}}}, {{"axis", int64_t{1}}, {"dtype", int64_t{2}}}));
  EXPECT_EQ(op.GetAttr<DataType>("dtype"), DataType::kInt32);
}

TEST_F(ApplyRule, AttributesMayBeVariables) {
  const std::string axes = builder_.AddConstant("axes", IntsTensor({2}));
  const OpDesc op = Apply(PaddleOp("squeeze2", {{"X", {x_}}, {"axes", {axes}}}));
  EXPECT_EQ(op.GetAttr<IntArray>("axis"), IntArray({2}));
}

TEST_F(ApplyRule, MissingAndSuperfluousInputsAreErrors) {
  const auto error_of = [this](const ForeignOp& op) {
    return ErrorOf([&] {
      ConvertContext context(op, &builder_.main());
      ConvertOp(&context, &context);
    });
  };
  EXPECT_EQ(error_of(PaddleOp("relu", {})).code(), ErrorCode::kCorrupt);
  EXPECT_EQ(error_of(PaddleOp("relu", {{"X", {x_, x_}}})).code(), ErrorCode::kCorrupt);
  EXPECT_EQ(error_of(PaddleOp("relu", {{"X", {x_}}, {"Y", {x_}}})).code(), ErrorCode::kUnsupported);
  EXPECT_EQ(error_of(PaddleOp("leaky_relu", {{"X", {x_}}}, {{"alpha", std::string("a")}})).code(), ErrorCode::kCorrupt);
  EXPECT_EQ(error_of(PaddleOp("instance_norm", {{"X", {x_}}}, {{"data_layout", std::string("NHWC")}})).code(),
            ErrorCode::kUnsupported);
}

TEST_F(ApplyRule, UnknownOperatorsAreNotConverted) {
  const ForeignOp op = PaddleOp("no_such_operator", {});
  ConvertContext context(op, &builder_.main());
  EXPECT_FALSE(ConvertOp(&context, &context));
  EXPECT_FALSE(IsConvertible(op));
}

TEST(UnsupportedOps, AllAreReportedAtOnce) {
  UnsupportedOps unsupported;
  EXPECT_NO_THROW(unsupported.Report("'m'", nullptr));
  ForeignOp op = PaddleOp("yolo_box", {});
  op.index = 7;
  unsupported.Add(op);
  unsupported.Add(op);
  op.type = "conv2d";
  op.label = "c1";
  unsupported.Add(op, "attribute data_format is 'NHWC'");
  std::vector<std::string> list;
  unsupported.Report("'m'", &list);
  EXPECT_EQ(list.size(), 2U);
  const Error error = ErrorOf([&] { unsupported.Report("'m' (a Paddle program)", nullptr); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_EQ(error.message(),
            "'m' (a Paddle program) has operators that Wherry does not support: 'conv2d': attribute data_format is "
            "'NHWC' (1 place: "
            "block 0, number 7, 'c1'); 'yolo_box' (2 places, first: block 0, number 7)");
}

}  // namespace
}  // namespace wherry
