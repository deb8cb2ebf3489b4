#include "op/op_schema.h"

#include <gtest/gtest.h>

#include "op/infer_in_block.h"
#include "op/infer_meta_context.h"
#include "op/op_desc.h"
#include "op/pending.h"
#include "op/schema_registry.h"
#include "wherry/error.h"

namespace wherry {
namespace {

// An op with one argument of every kind: out has x's shape with dimension 0 replaced by `size` (times `scale`).
std::vector<MetaTensor> AllInferMeta(const MetaTensor& x, const MetaTensor* bias,
                                     const std::vector<const MetaTensor*>& list, int axis, const SymIntArray& size,
                                     const SymScalar& scale) {
  if (!x.rank_known) return {x, MetaTensor(DataType::kBool, {})};
  WHERRY_ENFORCE(axis >= 0 && axis < x.rank(), kInvalidArgument, "axis ", axis, " of ", x.DebugString());
  MetaTensor out = x;
  if (size.known()) out.dims[0] = size.values->front();
  if (scale.dim) out.dims[0] = out.dims[0] * *scale.dim;
  std::vector<MetaTensor> results{out, bias != nullptr ? *bias : MetaTensor(DataType::kBool, {})};
  for (const MetaTensor* item : list) results.push_back(*item);
  return results;
}

constexpr ArgDef kArgs[] = {
    {"x", ArgKind::kTensor},
    {"bias", ArgKind::kOptionalTensor},
    {"list", ArgKind::kTensorList},
    {"axis", ArgKind::kAttribute, AttrType::kInt, "0"},
    {"size", ArgKind::kAttribute, AttrType::kIntArray},
    {"scale", ArgKind::kAttribute, AttrType::kScalar, "1"},
};
constexpr OutputDef kOutputs[] = {{"out"}, {"mask", false, true}, {"items", true}};
constexpr int8_t kParams[] = {0, 1, 2, 3, 4, 5};
constexpr const char* kAliases[] = {"test_all_alias"};

constexpr OpDescriptor kAll = {.name = "test_all",
                               .doc = "",
                               .args = kArgs,
                               .outputs = kOutputs,
                               .infer_meta = &InferMetaImpl<&AllInferMeta>::Call,
                               .infer_meta_params = kParams,
                               .kernel = "test_all",
                               .kernel_params = kParams,
                               .data_type_rule = {},
                               .backend_rule = {},
                               .layout_rule = {},
                               .inplace = {},
                               .support_trans_dtype = {},
                               .skip_transform = {},
                               .aliases = kAliases};

constexpr ArgDef kFusedArgs[] = {
    {"operands", ArgKind::kTensorList},
    {"epilogue", ArgKind::kAttribute, AttrType::kEpilogue, ""},
    {"inputs", ArgKind::kTensorList},
    {"program", ArgKind::kAttribute, AttrType::kElementwiseProgram, "1: relu(0)"},
};
constexpr OutputDef kOneOutput[] = {{"out"}};
constexpr OpDescriptor kFused = {.name = "test_fused",
                                 .doc = "",
                                 .args = kFusedArgs,
                                 .outputs = kOneOutput,
                                 .infer_meta = nullptr,
                                 .infer_meta_params = {},
                                 .kernel = "test_fused",
                                 .kernel_params = {},
                                 .data_type_rule = {},
                                 .backend_rule = {},
                                 .layout_rule = {},
                                 .block_count = 2,
                                 .inplace = {},
                                 .support_trans_dtype = {},
                                 .skip_transform = {},
                                 .aliases = {}};

OpDesc ValidAll() {
  OpDesc op("test_all");
  op.SetInput("x", {"a"});
  op.SetOutput("out", {"b"});
  op.SetAttr("size", std::vector<int64_t>{3});
  return op;
}

std::string WhyInvalid(const OpSchema& schema, OpDesc op) {
  try {
    ValidateOpDesc(schema, &op);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "valid";
}

TEST(OpDesc, BindsNames) {
  OpDesc op("softmax");
  op.SetInput("x", {"a"});
  op.SetOutput("out", {"b", "c d"});
  op.SetAttr("axis", -1);
  op.SetAttr("beta", 0.5F);
  op.SetLabel("layer_3");
  EXPECT_TRUE(op.HasInput("x"));
  EXPECT_TRUE(op.Input("y").empty());
  EXPECT_EQ(op.GetAttr<int>("axis"), -1);
  EXPECT_EQ(op.GetAttr<float>("beta"), 0.5F);
  EXPECT_EQ(op.DebugString(), "softmax(x: a) -> (out: [b, 'c d']) {axis = -1, beta = 0.5} @'layer_3'");
  op.SetInput("x", {});
  EXPECT_TRUE(op.inputs().empty());
  op.SetBlocks({1, 2});
  op.SetAttr("big", std::vector<int64_t>(1000, 7));
  EXPECT_LT(op.DebugString().size(), 400U);
}

TEST(OpDesc, AbsentAttributesNameTheNearest) {
  OpDesc op("softmax");
  op.SetAttr("axis", -1);
  try {
    op.GetAttribute("axs");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotFound);
    EXPECT_EQ(error.message(), "op softmax has no attribute 'axs'; did you mean 'axis'?");
  }
}

TEST(OpSchema, FindsArgumentsAndOutputs) {
  EXPECT_EQ(kAll.FindArg("axis"), 3);
  EXPECT_EQ(kAll.FindArg("out"), -1);
  EXPECT_EQ(kAll.FindOutput("items"), 2);
  EXPECT_EQ(kAll.FindOutput("x"), -1);
}

TEST(ValidateOpDesc, CompletesWhatIsValid) {
  OpDesc op = ValidAll();
  op.SetType("test_all_alias");
  ValidateOpDesc(kAll, &op);
  EXPECT_EQ(op.Type(), "test_all");
  EXPECT_EQ(op.GetAttr<int>("axis"), 0);
  EXPECT_EQ(op.GetAttr<IntArray>("size"), IntArray{3});
  EXPECT_EQ(op.GetAttr<Scalar>("scale"), Scalar(int64_t{1}));
}

TEST(ValidateOpDesc, AnAttributeMayComeFromATensor) {
  OpDesc op = ValidAll();
  op.EraseAttr("size");
  op.SetInput("size", {"s"});
  ValidateOpDesc(kAll, &op);
  EXPECT_FALSE(op.HasAttr("size"));
  op.SetAttribute("size", IntArray{1});
  EXPECT_EQ(WhyInvalid(kAll, op), "op test_all: 'size' is both an attribute and an input");
}

TEST(ValidateOpDesc, SaysWhatIsWrong) {
  OpDesc op = ValidAll();
  op.SetLabel("node 7");
  op.SetInput("y", {"a"});
  EXPECT_EQ(WhyInvalid(kAll, op),
            "op test_all ('node 7'): there is no input 'y' (there are: x, bias, list, axis, size, scale)");
  op = ValidAll();
  op.SetAttr("axes", 1);
  EXPECT_EQ(
      WhyInvalid(kAll, op),
      "op test_all: there is no attribute 'axes'; did you mean 'axis'? (there are: x, bias, list, axis, size, scale)");
  op = ValidAll();
  op.SetInput("x", {});
  EXPECT_EQ(WhyInvalid(kAll, op), "op test_all: input 'x' is missing");
  op.SetInput("x", {"a", "b"});
  EXPECT_EQ(WhyInvalid(kAll, op), "op test_all: input 'x': expected one tensor, got 2");
  op.SetInput("x", {""});
  EXPECT_EQ(WhyInvalid(kAll, op), "op test_all: input 'x' has an empty name");
  op = ValidAll();
  op.SetInput("axis", {"a"});
  EXPECT_EQ(WhyInvalid(kAll, op), "op test_all: 'axis' is an attribute of type int, not a tensor");
  op = ValidAll();
  op.SetAttr("bias", 1);
  EXPECT_EQ(WhyInvalid(kAll, op), "op test_all: 'bias' is a tensor, not an attribute");
  op = ValidAll();
  op.EraseAttr("size");
  EXPECT_EQ(WhyInvalid(kAll, op), "op test_all: attribute 'size' is missing");
  op.SetAttr("size", 1.5);
  EXPECT_EQ(WhyInvalid(kAll, op), "op test_all: attribute 'size': expected IntArray, got float '1.5'");
  op = ValidAll();
  op.SetOutput("out", {});
  EXPECT_EQ(WhyInvalid(kAll, op), "op test_all: output 'out' is missing");
  op.SetOutput("out", {"b", "c"});
  EXPECT_EQ(WhyInvalid(kAll, op), "op test_all: output 'out': expected one name, got 2");
  op = ValidAll();
  op.SetOutput("ot", {"b"});
  EXPECT_EQ(WhyInvalid(kAll, op),
            "op test_all: there is no output 'ot'; did you mean 'out'? (there are: out, mask, items)");
  op = ValidAll();
  op.SetBlocks({0});
  EXPECT_EQ(WhyInvalid(kAll, op), "op test_all: expected 0 blocks, got 1");
}

TEST(ValidateOpDesc, ChecksFusedPrograms) {
  OpDesc op("test_fused");
  op.SetOutput("out", {"b"});
  op.SetInput("inputs", {"a"});
  op.SetBlocks({1, 2});
  EXPECT_EQ(WhyInvalid(kFused, op), "valid");
  op.SetAttribute("epilogue", ParseEpilogue("bias(0)"));
  EXPECT_NE(WhyInvalid(kFused, op).find("has 0 operands"), std::string::npos);
  op.SetInput("operands", {"c"});
  EXPECT_EQ(WhyInvalid(kFused, op), "valid");
  op.SetAttribute("program", ParseElementwiseProgram("2: add(0, 1)"));
  EXPECT_NE(WhyInvalid(kFused, op).find("of 2 inputs, but 1 are bound"), std::string::npos);
  op.SetAttribute("program", ParseElementwiseProgram("1: add(0, 1)"));
  EXPECT_NE(WhyInvalid(kFused, op).find("not written yet"), std::string::npos);
}

class InferMetaTest : public testing::Test {
 protected:
  std::vector<BoundArg> Args() {
    std::vector<BoundArg> args(6);
    args[0].tensors = {&x_};
    args[3].attribute = &axis_;
    args[4].attribute = &size_;
    args[5].attribute = &scale_;
    return args;
  }

  SymbolTable table_;
  const MetaTensor x_ = MetaTensor(DataType::kFloat, {table_.Symbol("N"), 4});
  const MetaTensor bias_ = MetaTensor(DataType::kFloat, {4});
  Attribute axis_ = int64_t{1};
  Attribute size_ = IntArray{3};
  Attribute scale_ = Scalar(int64_t{2});
};

TEST_F(InferMetaTest, PassesEveryKindOfArgument) {
  std::vector<BoundArg> args = Args();
  args[1].tensors = {&bias_};
  args[2].tensors = {&bias_, &x_};
  const auto results = InferMeta(kAll, args, {});
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(results[0].at(0).DebugString(), "f32[6,4]");
  EXPECT_EQ(results[1].at(0).DebugString(), "f32[4]");
  ASSERT_EQ(results[2].size(), 2U);
  EXPECT_EQ(results[2][1], x_);
}

TEST_F(InferMetaTest, TensorsGiveAttributes) {
  MetaTensor size(DataType::kInt64, {1});
  size.values = {table_.Symbol("N") + 1};
  std::vector<BoundArg> args = Args();
  args[4] = {{&size}, nullptr};
  EXPECT_EQ(InferMeta(kAll, args, {})[0][0].DebugString(), "f32[(2*N+2),4]");
  size.values.reset();
  EXPECT_EQ(InferMeta(kAll, args, {})[0][0].DebugString(), "f32[2*N,4]");
}

TEST_F(InferMetaTest, OutputCountsAreKept) {
  std::vector<BoundArg> args = Args();
  args[2].tensors = {&bias_};
  const auto without_mask = InferMeta(kAll, args, std::vector<size_t>{1, 0, 1});
  EXPECT_TRUE(without_mask[1].empty());
  EXPECT_EQ(without_mask[2].size(), 1U);
  EXPECT_THROW(InferMeta(kAll, args, std::vector<size_t>{1, 1, 2}), Error);
  EXPECT_THROW(InferMeta(kAll, args, std::vector<size_t>{0, 1, 1}), Error);
}

TEST_F(InferMetaTest, ErrorsNameTheOp) {
  axis_ = int64_t{2};
  try {
    InferMeta(kAll, Args(), {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "axis 2 of f32[N,4] (while inferring the shapes of op test_all)");
  }
  axis_ = int64_t{0};
  size_ = IntArray{-3};
  try {
    InferMeta(kAll, Args(), {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "output out would have shape f32[-6,4]");
  }
}

TEST_F(InferMetaTest, InABlockContradictionsGiveUnknownShapes) {
  EXPECT_EQ(InferMetaInBlock(kAll, Args(), {}), InferMeta(kAll, Args(), {}));
  axis_ = int64_t{2};
  const auto results = InferMetaInBlock(kAll, Args(), {});
  EXPECT_FALSE(results[0][0].rank_known);
  EXPECT_EQ(results[0][0].dtype, x_.dtype);
  EXPECT_THROW(InferMetaInBlock(kAll, Args(), std::vector<size_t>{1, 1, 2}), Error);
}

TEST(Pending, IsTakenInOrderEvenPastAnError) {
  static const int objects[3] = {};
  const auto descriptor = [](int i) { return reinterpret_cast<const ConverterDescriptor*>(&objects[i]); };
  EXPECT_FALSE(HasPending<ConverterDescriptor>());
  const PendingNode<ConverterDescriptor> first(descriptor(0));
  const PendingNode<ConverterDescriptor> second(descriptor(1));
  const PendingNode<ConverterDescriptor> third(descriptor(2));
  EXPECT_EQ(third.next, &second);
  EXPECT_TRUE(HasPending<ConverterDescriptor>());
  std::vector<const ConverterDescriptor*> taken;
  const auto add = [](const ConverterDescriptor* item, void* registry) {
    static_cast<std::vector<const ConverterDescriptor*>*>(registry)->push_back(item);
    Throw(ErrorCode::kAlreadyExists, "number ",
          static_cast<std::vector<const ConverterDescriptor*>*>(registry)->size());
  };
  try {
    TakePending<ConverterDescriptor>(add, &taken);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "number 1");
  }
  EXPECT_EQ(taken, (std::vector<const ConverterDescriptor*>{descriptor(0), descriptor(1), descriptor(2)}));
  EXPECT_FALSE(HasPending<ConverterDescriptor>());
  EXPECT_NO_THROW(TakePending<ConverterDescriptor>(add, &taken));
}

TEST(SchemaRegistry, HoldsTheBuiltinOps) {
  const OpSchema& softmax = SchemaRegistry::Global().Get("softmax");
  EXPECT_GE(softmax.FindArg("axis"), 0);
  const std::vector<const OpSchema*> list = SchemaRegistry::Global().List();
  EXPECT_GE(list.size(), BuiltinOps().size());
  for (size_t i = 1; i < list.size(); ++i) EXPECT_LT(std::string_view(list[i - 1]->name), list[i]->name);
  EXPECT_EQ(SchemaRegistry::Global().Find("no_such_op"), nullptr);
  try {
    SchemaRegistry::Global().Get("sofmax");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotFound);
    EXPECT_NE(error.message().find("'softmax'"), std::string::npos) << error.message();
  }
}

// Every default of every op is text that its type reads.
TEST(SchemaRegistry, DefaultsParse) {
  for (const OpSchema* schema : SchemaRegistry::Global().List()) {
    for (const ArgDef& arg : schema->args) {
      if (arg.default_text == nullptr) continue;
      EXPECT_NO_THROW({ EXPECT_EQ(TypeOf(ParseAttribute(arg.type, arg.default_text)), arg.type); })
          << schema->name << " " << arg.name << " = " << arg.default_text;
    }
  }
}

TEST(SchemaRegistry, PendingOpsAreMergedOnUse) {
  SchemaRegistry& registry = SchemaRegistry::Global();
  EXPECT_EQ(registry.Find("test_all"), nullptr);
  static const PendingNode<OpDescriptor> node(&kAll);
  EXPECT_EQ(SchemaRegistry::Global().Find("test_all"), &kAll);
  EXPECT_EQ(registry.Find("test_all_alias"), &kAll);
  try {
    registry.Add(&kAll);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kAlreadyExists);
  }
  // A taken name is reported once, and takes nothing else with it.
  static const PendingNode<OpDescriptor> again(&kAll);
  static const PendingNode<OpDescriptor> other(&kFused);
  EXPECT_THROW(SchemaRegistry::Global(), Error);
  EXPECT_EQ(SchemaRegistry::Global().Find("test_fused"), &kFused);
}

}  // namespace
}  // namespace wherry
