// What single operators become.
#include <gtest/gtest.h>

#include "base/file_test_util.h"
#include "importers/onnx/one_op_test_util.h"

namespace wherry::onnx {
namespace {

using Names = std::vector<std::string>;
using Numbers = std::vector<int64_t>;

TEST(OnnxConvert, ConvolutionKeepsItsPaddingsInOurOrder) {
  OneOp conv = Unary("Conv", 11, {1, 4, 8, 9});
  conv.Weight(Zeros("w", {6, 2, 3, 3})).Weight(Zeros("b", {6}));
  conv.Attr("pads", Numbers{1, 2, 0, 1}).Attr("strides", Numbers{2, 2}).Attr("group", 2);
  const Program program = conv.Import();
  const OpDesc& op = FindOp(program, "conv2d");
  EXPECT_EQ(op.GetAttr<Numbers>("paddings"), (Numbers{1, 0, 2, 1}));
  EXPECT_EQ(op.GetAttr<int64_t>("groups"), 2);
  EXPECT_EQ(op.Input("operands"), Names{"b"});
  EXPECT_EQ(ToString(op.GetAttr<Epilogue>("epilogue")), "bias(0)");
  EXPECT_EQ(ResultMeta(program), "f32[1,6,4,5]");
}

TEST(OnnxConvert, ConvolutionThatPadsByItself) {
  for (const auto& [theirs, ours] :
       {std::pair("SAME_UPPER", "SAME"), {"SAME_LOWER", "SAME_LOWER"}, {"VALID", "VALID"}}) {
    OneOp conv = Unary("Conv", 11, {1, 1, 5, 5});
    conv.Weight(Zeros("w", {1, 1, 2, 2})).Attr("auto_pad", std::string(theirs));
    EXPECT_EQ(FindOp(conv.Import(), "conv2d").GetAttr<std::string>("padding_algorithm"), ours);
  }
}

TEST(OnnxConvert, ConvolutionOfOneAxisIsAnImageOfHeightOne) {
  OneOp conv = Unary("Conv", 11, {2, 3, 10});
  conv.Weight(Zeros("w", {5, 3, 3}))
      .Attr("pads", Numbers{1, 0})
      .Attr("strides", Numbers{2})
      .Attr("dilations", Numbers{2});
  EXPECT_EQ(conv.Summary(), "unsqueeze unsqueeze conv2d squeeze f32[2,5,4]");
}

TEST(OnnxConvert, ConvolutionsOfThreeAxes) {
  OneOp conv = Unary("Conv", 11, {1, 2, 4, 5, 6});
  conv.Weight(Zeros("w", {3, 2, 2, 2, 2})).Attr("pads", Numbers{1, 2, 3, 0, 0, 1});
  EXPECT_EQ(FindOp(conv.Import(), "conv3d").GetAttr<Numbers>("paddings"), (Numbers{1, 0, 2, 0, 3, 1}));
  EXPECT_EQ(conv.Summary(), "conv3d f32[1,3,4,6,9]");
  OneOp transposed = Unary("ConvTranspose", 11, {1, 2, 4, 5, 6});
  transposed.Weight(Zeros("w", {2, 3, 2, 2, 2})).Attr("strides", Numbers{1, 2, 3});
  EXPECT_EQ(transposed.Summary(), "conv3d_transpose f32[1,3,5,10,17]");
}

TEST(OnnxConvert, DeformableConvolution) {
  OneOp conv = Unary("DeformConv", 19, {1, 2, 5, 6});
  conv.Weight(Zeros("w", {3, 2, 2, 2})).Weight(Zeros("o", {1, 16, 4, 5})).Weight(Zeros("b", {3}));
  conv.Attr("offset_group", 2);
  EXPECT_EQ(conv.Summary(), "deformable_conv unsqueeze add f32[1,3,4,5]");
}

TEST(OnnxConvert, ConvolutionThatIsWrong) {
  OneOp four = Unary("Conv", 11, {1, 1, 4, 4, 4, 4});
  four.Weight(Zeros("w", {1, 1, 2, 2, 2, 2}));
  EXPECT_EQ(four.ImportError().code(), ErrorCode::kUnsupported);
  OneOp ranks = Unary("Conv", 11, {1, 1, 4});
  ranks.Weight(Zeros("w", {1, 1, 2, 2}));
  EXPECT_EQ(ranks.ImportError().code(), ErrorCode::kCorrupt);
  OneOp pads = Unary("Conv", 11, {1, 1, 4, 4});
  pads.Weight(Zeros("w", {1, 1, 2, 2})).Attr("pads", Numbers{1, 1});
  EXPECT_EQ(pads.ImportError().code(), ErrorCode::kCorrupt);
  OneOp kernel = Unary("Conv", 11, {1, 1, 4, 4});
  kernel.Weight(Zeros("w", {1, 1, 2, 2})).Attr("kernel_shape", Numbers{3, 2});
  EXPECT_EQ(kernel.ImportError().code(), ErrorCode::kCorrupt);
}

TEST(OnnxConvert, TransposedConvolution) {
  OneOp two = Unary("ConvTranspose", 11, {1, 4, 5, 6});
  two.Weight(Zeros("w", {4, 3, 3, 3})).Weight(Zeros("b", {6})).Attr("group", 2).Attr("strides", Numbers{2, 3});
  two.Attr("pads", Numbers{1, 2, 0, 1}).Attr("output_padding", Numbers{1, 2});
  const Program program = two.Import();
  const OpDesc& op = FindOp(program, "conv2d_transpose");
  EXPECT_EQ(op.GetAttr<Numbers>("paddings"), (Numbers{1, 0, 2, 1}));
  EXPECT_EQ(ToString(op.GetAttr<Epilogue>("epilogue")), "bias(0)");
  EXPECT_EQ(ResultMeta(program), "f32[1,6,11,17]");

  OneOp one = Unary("ConvTranspose", 11, {2, 3, 10});
  one.Weight(Zeros("w", {3, 5, 3})).Attr("strides", Numbers{2});
  EXPECT_EQ(one.Summary(), "unsqueeze unsqueeze conv2d_transpose squeeze f32[2,5,21]");
}

TEST(OnnxConvert, TransposedConvolutionOfAGivenSize) {
  // The odd pixel of what is cut off is at the beginning unless SAME_UPPER is asked for.
  for (const auto& [theirs, ours] : {std::pair("NOTSET", "SAME_LOWER"), {"SAME_UPPER", "SAME"}}) {
    OneOp conv = Unary("ConvTranspose", 11, {1, 1, 3, 3});
    conv.Weight(Zeros("w", {1, 2, 3, 3})).Attr("auto_pad", std::string(theirs)).Attr("strides", Numbers{3, 2});
    conv.Attr("output_shape", Numbers{10, 8});
    EXPECT_EQ(FindOp(conv.Import(), "conv2d_transpose").GetAttr<std::string>("padding_algorithm"), ours);
    EXPECT_EQ(conv.Summary(), "conv2d_transpose f32[1,2,10,8]");
  }
  OneOp same = Unary("ConvTranspose", 11, {1, 1, 3, 3});
  same.Weight(Zeros("w", {1, 2, 3, 3})).Attr("auto_pad", std::string("SAME_LOWER")).Attr("strides", Numbers{3, 2});
  EXPECT_EQ(same.Summary(), "conv2d_transpose f32[1,2,9,6]");
}

TEST(OnnxConvert, UnpoolingToAGivenSize) {
  OneOp plain = Unary("MaxUnpool", 11, {1, 1, 2, 2});
  plain.Input("i", {1, 1, 2, 2}, kTestInt64).Attr("kernel_shape", Numbers{2, 2}).Attr("strides", Numbers{2, 2});
  const Program program = plain.Import();
  EXPECT_EQ(FindOp(program, "unpool").GetAttr<std::string>("index"), "tensor");
  EXPECT_EQ(ResultMeta(program), "f32[1,1,4,4]");
  TestTensor size = IntTensor("s", {1, 1, 5, 6});
  OneOp larger = Unary("MaxUnpool", 11, {1, 1, 2, 2});
  larger.Input("i", {1, 1, 2, 2}, kTestInt64).Weight(size);
  larger.Attr("kernel_shape", Numbers{2, 2}).Attr("strides", Numbers{2, 2});
  EXPECT_EQ(ResultMeta(larger.Import()), "f32[1,1,5,6]");
}

TEST(OnnxConvert, Pooling) {
  OneOp max = Unary("MaxPool", 12, {1, 2, 7, 8});
  max.Attr("kernel_shape", Numbers{3, 2}).Attr("strides", Numbers{2, 2}).Attr("ceil_mode", 1);
  EXPECT_EQ(max.Summary(), "pool2d f32[1,2,3,4]");
  OneOp average = Unary("AveragePool", 11, {1, 2, 7, 8});
  average.Attr("kernel_shape", Numbers{2, 2}).Attr("count_include_pad", 1).Attr("pads", Numbers{1, 1, 1, 1});
  const Program program = average.Import();
  EXPECT_FALSE(FindOp(program, "pool2d").GetAttr<bool>("exclusive"));
  EXPECT_EQ(FindOp(program, "pool2d").GetAttr<std::string>("pooling_type"), "avg");
  EXPECT_EQ(Unary("MaxPool", 12, {1, 2, 7}).Attr("kernel_shape", Numbers{3}).Summary(),
            "unsqueeze pool2d squeeze f32[1,2,5]");
  OneOp indices = Unary("MaxPool", 12, {1, 2, 7, 8});
  indices.Attr("kernel_shape", Numbers{2, 2}).Outputs({"y", "i"});
  EXPECT_EQ(FindOp(indices.Import(), "max_pool_with_index").GetAttr<std::string>("index"), "tensor");
  EXPECT_EQ(FindOp(indices.Attr("storage_order", 1).Import(), "max_pool_with_index").GetAttr<std::string>("index"),
            "column_major");
  EXPECT_EQ(Unary("MaxPool", 12, {1, 2, 7, 6, 5}).Attr("kernel_shape", Numbers{3, 2, 1}).Summary(),
            "pool3d f32[1,2,5,5,5]");
  EXPECT_EQ(Unary("GlobalLpPool", 6, {1, 2, 7, 8}).Attr("p", 1).Summary(), "abs sum f32[1,2,1,1]");
  EXPECT_EQ(Unary("GlobalAveragePool", 6, {1, 2, 7, 8}).Summary(), "pool2d f32[1,2,1,1]");
  EXPECT_EQ(Unary("GlobalMaxPool", 6, {1, 2, 7, 8, 9}).Summary(), "max f32[1,2,1,1,1]");
}

TEST(OnnxConvert, BatchNormalizationTakesItsParametersInOurOrder) {
  OneOp op = Unary("BatchNormalization", 9, {1, 2, 3, 3});
  for (const char* name : {"scale", "bias", "mean", "var"}) op.Weight(Zeros(name, {2}));
  op.Attr("epsilon", 0.25F);
  const Program program = op.Import();
  const OpDesc& norm = FindOp(program, "batch_norm");
  EXPECT_EQ(norm.Input("variance"), Names{"var"});
  EXPECT_EQ(norm.Input("bias"), Names{"bias"});
  EXPECT_EQ(norm.GetAttr<double>("epsilon"), 0.25);
  // With its own statistics it is built of other operators.
  op.Attr("training_mode", 1);
  EXPECT_EQ(Types(op.Import()).front(), "mean");
}

TEST(OnnxConvert, Reshapes) {
  EXPECT_EQ(Unary("Reshape", 13, {2, 3, 4}).Weight(IntTensor("s", {0, -1})).Summary(), "reshape f32[2,12]");
  OneOp zero = Unary("Reshape", 14, {0, 3});
  zero.Weight(IntTensor("s", {3, 0})).Attr("allowzero", 1);
  EXPECT_EQ(zero.Summary(), "reshape f32[3,0]");
  EXPECT_EQ(Unary("Flatten", 13, {2, 3, 4}).Summary(), "flatten f32[2,12]");
  EXPECT_EQ(Unary("Flatten", 13, {2, 3, 4}).Attr("axis", 0).Summary(), "flatten unsqueeze f32[1,24]");
  EXPECT_EQ(Unary("Flatten", 13, {2, 3, 4}).Attr("axis", 3).Summary(), "flatten unsqueeze f32[24,1]");
  EXPECT_EQ(Unary("Flatten", 13, {2, 3, 4, 5}).Attr("axis", -2).Summary(), "flatten flatten f32[6,20]");
  EXPECT_EQ(Unary("Flatten", 13, {2, 3}).Attr("axis", 4).ImportError().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(Unary("Squeeze", 11, {1, 2, 1}).Attr("axes", Numbers{-1}).Summary(), "squeeze f32[1,2]");
  EXPECT_EQ(Unary("Squeeze", 13, {1, 2, 1}).Weight(IntTensor("a", {0})).Summary(), "squeeze f32[2,1]");
  EXPECT_EQ(Unary("Squeeze", 13, {1, 2, 1}).Summary(), "squeeze f32[2]");
  EXPECT_EQ(Unary("Unsqueeze", 11, {2}).Attr("axes", Numbers{0, 2}).Summary(), "unsqueeze f32[1,2,1]");
  EXPECT_EQ(Unary("Unsqueeze", 13, {2}).Weight(IntTensor("a", {1})).Summary(), "unsqueeze f32[2,1]");
  EXPECT_EQ(Unary("Expand", 13, {3, 1}).Weight(IntTensor("s", {2, 1, 4})).Summary(), "expand f32[2,3,4]");
  EXPECT_EQ(Unary("Tile", 13, {3, 2}).Weight(IntTensor("r", {2, 1})).Summary(), "tile f32[6,2]");
  EXPECT_EQ(Unary("Transpose", 13, {3, 2}).Summary(), "transpose f32[2,3]");
}

TEST(OnnxConvert, ShapesCarryValues) {
  EXPECT_EQ(Unary("Shape", 13, {2, 3}).Summary(), "shape i64[2] = [2, 3]");
  EXPECT_EQ(Unary("Shape", 15, {2, 3, 4}).Attr("start", -2).Attr("end", 2).Summary(), "shape slice i64[1] = [3]");
  EXPECT_EQ(Unary("Size", 13, {2, 3, 4}).Summary(), "shape prod i64[] = [24]");
}

TEST(OnnxConvert, DepthAndSpace) {
  const Numbers dims = {1, 8, 2, 3};
  EXPECT_EQ(ResultMeta(Unary("DepthToSpace", 13, dims).Attr("blocksize", 2).Import()), "f32[1,2,4,6]");
  EXPECT_EQ(FindOp(Unary("DepthToSpace", 13, dims).Attr("blocksize", 2).Attr("mode", std::string("CRD")).Import(),
                   "transpose")
                .GetAttr<Numbers>("perm"),
            (Numbers{0, 1, 4, 2, 5, 3}));
  EXPECT_EQ(ResultMeta(Unary("SpaceToDepth", 13, {1, 2, 4, 6}).Attr("blocksize", 2).Import()), "f32[1,8,2,3]");
  EXPECT_EQ(Unary("SpaceToDepth", 13, dims).Attr("blocksize", int64_t{1} << 40).ImportError().code(),
            ErrorCode::kCorrupt);
}

TEST(OnnxConvert, ClipBoundsAreAttributesOrInputs) {
  const OpDesc old = FindOp(Unary("Clip", 6, {2}).Attr("max", 6.0F).Import(), "clip");
  EXPECT_EQ(old.GetAttr<Scalar>("max").to<double>(), 6.0);
  const OpDesc known = FindOp(Unary("Clip", 11, {2}).Absent().Weight(FloatTensor("m", {}, {3})).Import(), "clip");
  EXPECT_EQ(known.GetAttr<Scalar>("max").to<double>(), 3.0);
  EXPECT_TRUE(known.Input("min").empty());
  const OpDesc unknown = FindOp(Unary("Clip", 11, {2}).Input("m", {}).Import(), "clip");
  EXPECT_EQ(unknown.Input("min"), Names{"m"});
}

TEST(OnnxConvert, SlicesOldAndNew) {
  OneOp old = Unary("Slice", 1, {5, 6});
  EXPECT_EQ(old.ImportError().code(), ErrorCode::kUnsupported);  // opset 1
  OneOp nine = Unary("Slice", 9, {5, 6});
  nine.Attr("starts", Numbers{1, -2}).Attr("ends", Numbers{3, std::numeric_limits<int64_t>::max()});
  EXPECT_EQ(nine.Summary(), "slice f32[2,2]");
  OneOp ten = Unary("Slice", 10, {5, 6});
  ten.Weight(IntTensor("s", {4})).Weight(IntTensor("e", {std::numeric_limits<int64_t>::min()}));
  ten.Weight(IntTensor("a", {-1})).Weight(IntTensor("t", {-2}));
  EXPECT_EQ(ten.Summary(), "slice f32[5,3]");
  OneOp run_time = Unary("Slice", 13, {5, 6});
  run_time.Input("s", Dims({1}), kTestInt64).Input("e", Dims({1}), kTestInt64);
  EXPECT_EQ(FindOp(run_time.Import(), "slice").Input("starts"), Names{"s"});
}

TEST(OnnxConvert, SplitsOldAndNew) {
  const Numbers dims = {6, 7};
  EXPECT_EQ(Unary("Split", 11, dims).Outputs({"y", "z"}).Summary(), "split f32[3,7]");
  OneOp sizes = Unary("Split", 11, dims);
  sizes.Attr("split", Numbers{2, 5}).Attr("axis", -1).Outputs({"y", "z"});
  EXPECT_EQ(sizes.Summary(), "split f32[6,2]");
  OneOp input = Unary("Split", 13, dims);
  EXPECT_EQ(input.Weight(IntTensor("s", {1, 5})).Outputs({"y", "z"}).Summary(), "split f32[1,7]");
  OneOp uneven = Unary("Split", 18, dims);
  uneven.Attr("num_outputs", 3).Attr("axis", 1).Outputs({"a", "b", "c"});
  EXPECT_EQ(ResultMeta(uneven.Import(), 2), "f32[6,1]");
  EXPECT_EQ(Unary("Split", 13, dims).Attr("axis", 1).Outputs({"y", "z"}).ImportError().code(), ErrorCode::kCorrupt);
  OneOp symbolic("Split", 13);
  symbolic.Input("x", {"N", int64_t{2}}).Outputs({"y", "z"});
  EXPECT_EQ(ResultMeta(symbolic.Import()), "f32[floor(N/2),2]");
  // A last piece that may be smaller.
  OneOp rest("Split", 18);
  rest.Input("x", {"N", int64_t{2}}).Attr("num_outputs", 2).Outputs({"y", "z"});
  EXPECT_EQ(Types(rest.Import()).back(), "split");
}

TEST(OnnxConvert, PadsOfAllOrSomeAxes) {
  OneOp old = Unary("Pad", 10, {2, 3});
  old.Attr("pads", Numbers{0, 1, 0, 2}).Attr("value", 1.5F);
  EXPECT_EQ(old.Summary(), "pad f32[2,6]");
  OneOp some = Unary("Pad", 18, {2, 3});
  some.Weight(IntTensor("p", {1, 2})).Weight(FloatTensor("v", {}, {7})).Weight(IntTensor("a", {-1}));
  const OpDesc pad = FindOp(some.Import(), "pad");
  EXPECT_EQ(pad.GetAttr<IntArray>("paddings"), IntArray({0, 1, 0, 2}));
  EXPECT_EQ(pad.GetAttr<Scalar>("value").to<double>(), 7.0);
}

TEST(OnnxConvert, GemmIsFcWhereItCanBe) {
  const auto gemm = [](const Numbers& w, const Numbers& bias) {
    OneOp op = Unary("Gemm", 13, {2, 3});
    op.Weight(Zeros("w", w)).Weight(Zeros("b", bias));
    return op;
  };
  EXPECT_EQ(gemm({3, 4}, {4}).Summary(), "fc f32[2,4]");
  EXPECT_EQ(gemm({4, 3}, {4}).Attr("transB", 1).Summary(), "transpose fc f32[2,4]");
  EXPECT_EQ(gemm({3, 4}, {2, 1}).Summary(), "matmul add f32[2,4]");
  EXPECT_EQ(gemm({3, 4}, {4}).Attr("alpha", 0.5F).Attr("beta", 2.0F).Summary(), "matmul scale scale add f32[2,4]");
  EXPECT_EQ(Unary("Gemm", 13, {3, 2}).Input("b", Dims({4, 3})).Attr("transA", 1).Attr("transB", 1).Summary(),
            "matmul f32[2,4]");
}

TEST(OnnxConvert, SoftmaxBeforeOpset13IsOverAllThatFollows) {
  EXPECT_EQ(Unary("Softmax", 11, {2, 3}).Summary(), "softmax f32[2,3]");
  EXPECT_EQ(Unary("Softmax", 11, {2, 3, 1, 1}).Summary(), "softmax f32[2,3,1,1]");
  EXPECT_EQ(Unary("Softmax", 11, {2, 3, 4}).Summary(), "flatten softmax shape reshape f32[2,3,4]");
  EXPECT_EQ(FindOp(Unary("Softmax", 13, {2, 3, 4}).Import(), "softmax").GetAttr<int64_t>("axis"), -1);
}

TEST(OnnxConvert, ReductionsOldAndNew) {
  const Numbers dims = {2, 3, 4};
  EXPECT_EQ(Unary("ReduceMean", 11, dims).Attr("axes", Numbers{1}).Summary(), "mean f32[2,1,4]");
  EXPECT_EQ(Unary("ReduceSum", 13, dims).Weight(IntTensor("a", {0, -1})).Attr("keepdims", 0).Summary(), "sum f32[3]");
  EXPECT_EQ(Unary("ReduceMax", 13, dims).Summary(), "max f32[1,1,1]");
  EXPECT_EQ(ResultMeta(Unary("ReduceSum", 13, dims).Attr("noop_with_empty_axes", 1).Import()), "f32[2,3,4]");
  EXPECT_EQ(Unary("ReduceL2", 13, dims).Attr("axes", Numbers{2}).Summary(), "square sum sqrt f32[2,3,1]");
  EXPECT_EQ(OneOp("ReduceL2", 13).Input("x", Dims(dims), kTestInt64).Summary(), "cast square sum sqrt cast i64[1,1,1]");
  EXPECT_EQ(ResultMeta(Unary("ReduceLogSumExp", 13, dims).Attr("axes", Numbers{2}).Attr("keepdims", 0).Import()),
            "f32[2,3]");
}

TEST(OnnxConvert, OpsetSixNamesTheAxisOfTheSecondOperand) {
  OneOp add = Unary("Add", 6, {2, 3, 4, 5});
  add.Input("b", Dims({3})).Attr("broadcast", 1).Attr("axis", 1);
  EXPECT_EQ(add.Summary(), "unsqueeze add f32[2,3,4,5]");
  OneOp less = Unary("Less", 6, {2, 3});
  EXPECT_EQ(less.Input("b", Dims({3})).Attr("broadcast", 1).Summary(), "less_than bool[2,3]");
  OneOp wrong = Unary("Mul", 6, {2, 3});
  wrong.Input("b", Dims({2, 3})).Attr("broadcast", 1).Attr("axis", 1);
  EXPECT_EQ(wrong.ImportError().code(), ErrorCode::kCorrupt);
}

TEST(OnnxConvert, PowersHaveTheTypeOfTheBase) {
  EXPECT_EQ(Unary("Pow", 13, {2}).Weight(FloatTensor("p", {}, {2})).Summary(), "square f32[2]");
  EXPECT_EQ(Unary("Pow", 13, {2}).Input("p", {}, kTestInt64).Summary(), "cast elementwise_pow f32[2]");
  OneOp integers("Pow", 13);
  integers.Input("x", Dims({2}), kTestInt64).Input("p", {}, kTestFloat);
  EXPECT_EQ(integers.Summary(), "cast elementwise_pow cast i64[2]");
}

TEST(OnnxConvert, AnyNumberOfOperands) {
  OneOp sum = Unary("Sum", 13, {2});
  EXPECT_EQ(sum.Input("b", Dims({3, 1})).Input("c", Dims({1})).Summary(), "add add f32[3,2]");
  OneOp concat = Unary("Concat", 13, {2});
  EXPECT_EQ(concat.Input("b", Dims({3})).Attr("axis", 0).Summary(), "concat f32[5]");
  EXPECT_EQ(ResultMeta(Unary("Max", 13, {2}).Import()), "f32[2]");
}

TEST(OnnxConvert, Constants) {
  const auto constant = [](const std::string& name, TestAttr value) {
    return OneOp("Constant", 13).Attr(name, std::move(value)).Summary();
  };
  EXPECT_EQ(constant("value", IntTensor("", {4, 5})), "assign i64[2] = [4, 5]");
  EXPECT_EQ(constant("value_int", 3), "assign i64[] = [3]");
  EXPECT_EQ(constant("value_ints", Numbers{3, 1}), "assign i64[2] = [3, 1]");
  EXPECT_EQ(constant("value_float", 1.5F), "assign f32[]");
  EXPECT_EQ(constant("value_floats", std::vector<float>{1, 2, 3}), "assign f32[3]");
  EXPECT_EQ(ResultMeta(OneOp("Constant", 13).Attr("value_string", std::string("a")).Import()), "string[]");
  EXPECT_EQ(OneOp("Constant", 13).ImportError().code(), ErrorCode::kCorrupt);
  OneOp of_shape("ConstantOfShape", 9);
  of_shape.Weight(IntTensor("s", {2, 3})).Attr("value", IntTensor("", {7}));
  EXPECT_EQ(of_shape.Summary(), "full i64[2,3] = [7, 7, 7, 7, 7, 7]");
  OneOp range("Range", 11);
  for (const auto& [name, number] : {std::pair("a", 1), {"b", 7}, {"c", 2}}) {
    TestTensor tensor = IntTensor(name, {number});
    tensor.dims = {};
    range.Weight(tensor);
  }
  EXPECT_EQ(range.Summary(), "arange i64[3] = [1, 3, 5]");
}

TEST(OnnxConvert, CastsByTheFormatsNumbers) {
  EXPECT_EQ(Unary("Cast", 13, {2}).Attr("to", kTestInt64).Summary(), "cast i64[2]");
  EXPECT_EQ(Unary("Cast", 13, {2}).Attr("to", 10).Summary(), "cast f16[2]");
  EXPECT_EQ(Unary("Cast", 13, {2}).Attr("to", 8).Summary(), "cast string[2]");
  const Error error = Unary("Cast", 19, {2}).Attr("to", 99).ImportError();
  EXPECT_NE(std::string(error.what()).find("number 99"), std::string::npos) << error.what();
  EXPECT_EQ(Unary("CastLike", 15, {2}).Input("t", {}, kTestInt32).Summary(), "cast i32[2]");
}

TEST(OnnxConvert, NormalisationsWithParametersOfAnyShape) {
  EXPECT_EQ(Unary("LayerNormalization", 17, {2, 3, 4}).Weight(Zeros("s", {4})).Weight(Zeros("b", {4})).Summary(),
            "layer_norm f32[2,3,4]");
  EXPECT_EQ(Unary("LayerNormalization", 17, {2, 3, 4}).Weight(Zeros("s", {1})).Weight(Zeros("b", {4})).Summary(),
            "layer_norm multiply add f32[2,3,4]");
  EXPECT_EQ(Unary("RMSNormalization", 23, {2, 3, 4}).Weight(Zeros("s", {3, 4})).Attr("axis", 1).Summary(),
            "rms_norm f32[2,3,4]");
  EXPECT_EQ(Unary("GroupNormalization", 18, {1, 4, 2})
                .Weight(Zeros("s", {2}))
                .Weight(Zeros("b", {2}))
                .Attr("num_groups", 2)
                .Summary(),
            "unsqueeze expand reshape unsqueeze expand reshape group_norm f32[1,4,2]");
}

TEST(OnnxConvert, DropoutIsNothing) {
  EXPECT_EQ(ResultMeta(Unary("Dropout", 13, {2}).Import()), "f32[2]");
  EXPECT_EQ(ResultMeta(Unary("Dropout", 13, {2}).Outputs({"y", "mask"}).Import(), 1), "bool[2]");
}

TEST(OnnxConvert, ActivationsFromPieces) {
  for (const char* type : {"Selu", "Celu", "ThresholdedRelu", "Shrink", "Softsign", "Tan", "Hardmax", "Elu", "Mish",
                           "HardSwish", "HardSigmoid", "LeakyRelu", "Softplus"}) {
    EXPECT_EQ(ResultMeta(Unary(type, 20, {2, 3}).Import()), "f32[2,3]") << type;
  }
  EXPECT_TRUE(FindOp(Unary("Gelu", 20, {2}).Attr("approximate", std::string("tanh")).Import(), "gelu")
                  .GetAttr<bool>("approximate"));
  EXPECT_NO_THROW(FindOp(Unary("Celu", 12, {2}).Attr("alpha", -0.5F).Import(), "expm1"));
  OneOp old = Unary("PRelu", 6, {1, 3, 2, 2});
  EXPECT_EQ(ResultMeta(old.Weight(Zeros("s", {3})).Import()), "f32[1,3,2,2]");
  EXPECT_EQ(ResultMeta(Unary("IsInf", 20, {2}).Attr("detect_negative", 0).Import()), "bool[2]");
  EXPECT_EQ(Types(Unary("NonZero", 13, {2, 3}).Import()), (Names{"nonzero", "transpose"}));
}

}  // namespace
}  // namespace wherry::onnx
