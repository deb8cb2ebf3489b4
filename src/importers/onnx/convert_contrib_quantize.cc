// Quantised operators of com.microsoft (ContribOperators.md). Those whose specification is an operator on the numbers
// that integers stand for are built of just that: passes make operators on integers of it, as of any network.
#include "base/strings.h"
#include "importers/onnx/convert_contrib_attention.h"
#include "importers/onnx/convert_conv.h"
#include "importers/onnx/convert_pool.h"
#include "importers/onnx/convert_quantize.h"

namespace wherry::onnx {

namespace {

// The numbers that x stands for with the scale at that position and the zero point, which may be absent, behind it.
std::string Numbers(OnnxContext& c, const std::string& x, size_t scale) {
  return c.Emit("dequantize_linear",
                {{"x", {x}}, {"scale", {c.Input(scale)}}, {"zero_point", {c.OptionalInput(scale + 1)}}});
}
std::string Numbers(OnnxContext& c, size_t position) { return Numbers(c, c.Input(position), position + 1); }

// Numbers in steps of the scale at that position, with the zero point, which may be absent, behind it.
std::string Steps(OnnxContext& c, const std::string& y, size_t scale, DataType dtype) {
  return c.Emit("quantize_linear",
                {{"x", {y}}, {"scale", {c.Input(scale)}}, {"zero_point", {c.OptionalInput(scale + 1)}}},
                {{"dtype", dtype}});
}
// The same as the result, in the type of the operand at `like`.
void BindSteps(OnnxContext& c, const std::string& y, size_t scale, size_t like = 0) {
  c.Bind(0, Steps(c, y, scale, c.TypeOf(c.Input(like))));
}

void QLinearAdd(OnnxContext& c) { BindSteps(c, c.Binary("add", Numbers(c, 0), Numbers(c, 3)), 6); }
void QLinearMul(OnnxContext& c) { BindSteps(c, c.Binary("multiply", Numbers(c, 0), Numbers(c, 3)), 6); }
void QLinearSigmoid(OnnxContext& c) { BindSteps(c, c.Unary("sigmoid", Numbers(c, 0)), 3); }

void QLinearLeakyRelu(OnnxContext& c) {
  const auto alpha = c.Attr<double>("alpha", 0.01);
  BindSteps(c, c.Emit("leaky_relu", {{"x", {Numbers(c, 0)}}}, {{"negative_slope", alpha}}), 3);
}

// Attribute opset is that of the Softmax it was: before 13, all axes from `axis` on are one.
void QLinearSoftmax(OnnxContext& c) {
  const std::string x = Numbers(c, 0);
  const bool one_axis = c.Attr<int64_t>("opset") >= 13;
  const int64_t axis = c.Axis(c.Attr<int64_t>("axis", -1), c.Rank(x));
  if (one_axis) return BindSteps(c, c.Emit("softmax", {{"x", {x}}}, {{"axis", axis}}), 3);
  const std::string y = c.Emit("softmax", {{"x", {c.AsMatrix(x, axis)}}}, {{"axis", int64_t{1}}});
  BindSteps(c, c.Emit("reshape", {{"x", {y}}, {"shape", {c.Unary("shape", x)}}}, {{"allow_zero", true}}), 3);
}

void QLinearConcat(OnnxContext& c) {
  if (c.InputCount() < 5 || c.InputCount() % 3 != 2) c.Corrupt("it has ", c.InputCount(), " inputs");
  std::vector<std::string> parts;
  for (size_t i = 2; i < c.InputCount(); i += 3) parts.push_back(Numbers(c, i));
  const std::string y = c.Emit("concat", {{"x", parts}}, {{"axis", c.Attr<int64_t>("axis")}});
  c.Bind(0, Steps(c, y, 0, c.TypeOf(c.Input(1))));
}

void QLinearWhere(OnnxContext& c) {
  BindSteps(c, c.Emit("where", {{"condition", {c.Input(0)}}, {"x", {Numbers(c, 1)}}, {"y", {Numbers(c, 4)}}}), 7, 1);
}

void QLinearReduceMean(OnnxContext& c) {
  BindSteps(c,
            c.Emit("mean", {{"x", {Numbers(c, 0)}}},
                   {{"axis", IntArray(c.Attr<std::vector<int64_t>>("axes"))}, {"keepdim", c.Attr<bool>("keepdims")}}),
            3);
}

// The result that `op` makes of an image, whose channels are the last axis with attribute channels_last.
template <typename Op>
std::string OnImage(OnnxContext& c, const std::string& x, const Op& op) {
  if (!c.Attr<bool>("channels_last", false)) return op(x);
  return ChannelsLast(c, op(ChannelsFirst(c, x)));
}

// The same for integers with the scale at position 1, as integers with that at 3, where `op` works on numbers.
template <typename Op>
void BindPooled(OnnxContext& c, const Op& op) {
  const DataType dtype = c.TypeOf(c.Input(0));
  c.Bind(0, OnImage(c, c.Input(0),
                    [&](const std::string& image) { return Steps(c, op(Numbers(c, image, 1)), 3, dtype); }));
}

void QLinearAveragePool(OnnxContext& c) {
  const bool exclusive = !c.Attr<bool>("count_include_pad", false);
  BindPooled(c, [&](const std::string& image) { return EmitPool(c, image, "avg", exclusive); });
}

void QLinearGlobalAveragePool(OnnxContext& c) {
  BindPooled(c, [&](const std::string& image) { return EmitGlobalPool(c, image, "avg"); });
}

void QLinearConv(OnnxContext& c) {
  c.Bind(0, OnImage(c, c.Input(0), [&](const std::string& image) { return QLinearConvOf(c, image); }));
}

// A matrix of integers with a scale and a zero point (perhaps none).
struct Factor {
  std::string integers;
  std::string scale;
  std::string zero_point;
};

// The product of what the factors stand for, in f32.
std::string Product(OnnxContext& c, const Factor& a, const Factor& b) {
  if (!IsSingle(c, a.scale) || (!a.zero_point.empty() && !IsSingle(c, a.zero_point)))
    c.Unsupported("a scale or zero point of the first factor that is not one number");
  const std::string scale = c.Binary("multiply", a.scale, b.scale);
  if (IsPerChannel(c, b.scale) && IsPerChannel(c, b.zero_point) && IsByte(c.TypeOf(a.integers)) &&
      IsByte(c.TypeOf(b.integers))) {
    return c.Emit("quantized_matmul",
                  {{"x", {a.integers}},
                   {"y", {b.integers}},
                   {"scale", {scale}},
                   {"x_zero", {a.zero_point}},
                   {"y_zero", {b.zero_point}}},
                  {{"dtype", DataType::kFloat}});
  }
  const std::string x = Centred(c, a.integers, a.zero_point, {}, DataType::kFloat);
  return c.Binary("multiply", c.Binary("matmul", x, Centred(c, b.integers, b.zero_point, {}, DataType::kFloat)), scale);
}

void MatMulIntegerToFloat(OnnxContext& c) {
  const std::string y =
      Product(c, {c.Input(0), c.Input(2), c.OptionalInput(4)}, {c.Input(1), c.Input(3), c.OptionalInput(5)});
  c.Bind(0, Sum(c, y, c.OptionalInput(6)));
}

void DynamicQuantizeMatMul(OnnxContext& c) {
  const DynamicallyQuantized a = QuantizedDynamically(c, c.Input(0));
  const std::string y = Product(c, {a.integers, a.scale, a.zero_point}, {c.Input(1), c.Input(2), c.OptionalInput(3)});
  c.Bind(0, Sum(c, y, c.OptionalInput(4)));
}

void QAttention(OnnxContext& c) {
  const std::string y =
      Product(c, {c.Input(0), c.Input(3), c.OptionalInput(6)}, {c.Input(1), c.Input(4), c.OptionalInput(7)});
  AttendColumns(c, c.Binary("add", y, c.Input(2)), {.mask = 5, .past = 8});
}

// alpha A B + C, where C counts in steps of the product of the scales. Without a scale of the result, that is f32.
void QGemm(OnnxContext& c) {
  const auto turned = [&](size_t position, const char* attr) {
    const std::string x = c.Input(position);
    if (!c.Attr<bool>(attr, false)) return x;
    return c.Emit("transpose", {{"x", {x}}}, {{"perm", std::vector<int64_t>{1, 0}}});
  };
  const std::string a = turned(0, "transA");
  const std::string b = turned(3, "transB");
  const auto alpha = c.Attr<double>("alpha", 1.0);
  const std::string product = c.Binary("multiply", c.Input(1), c.Input(4));
  const std::string scale = alpha == 1.0 ? product : c.Scaled(product, alpha);
  const bool quantizes = c.HasInput(7);
  const DataType dtype = !quantizes ? DataType::kFloat : c.HasInput(8) ? c.TypeOf(c.Input(8)) : DataType::kUInt8;
  const bool rows = c.HasInput(6) && !IsPerChannel(c, c.Input(6));
  const bool one_step = !quantizes || (IsByte(dtype) && IsSingle(c, c.Input(7)));
  if (!rows && one_step && IsSingle(c, c.Input(1)) && IsPerChannel(c, c.Input(4)) &&
      IsPerChannel(c, c.OptionalInput(5))) {
    return c.EmitResult("quantized_matmul",
                        {{"x", {a}},
                         {"y", {b}},
                         {"scale", {quantizes ? c.Binary("divide", scale, c.Input(7)) : scale}},
                         {"bias", {c.OptionalInput(6)}},
                         {"x_zero", {c.OptionalInput(2)}},
                         {"y_zero", {c.OptionalInput(5)}},
                         {"out_zero", {quantizes ? c.OptionalInput(8) : ""}}},
                        {{"dtype", dtype}});
  }
  const std::string products = c.Binary("matmul", Centred(c, a, c.OptionalInput(2), {}, DataType::kInt32),
                                        Centred(c, b, c.OptionalInput(5), {}, DataType::kInt32));
  const std::string sums = Sum(c, products, c.OptionalInput(6));
  const std::string y = c.Binary("multiply", c.Cast(sums, DataType::kFloat), scale);
  c.Bind(0, quantizes ? Steps(c, y, 7, dtype) : y);
}

}  // namespace

REGISTER_CONVERTER(onnx, com_microsoft_QLinearAdd, &Convert<QLinearAdd>);
REGISTER_CONVERTER(onnx, com_microsoft_QLinearMul, &Convert<QLinearMul>);
REGISTER_CONVERTER(onnx, com_microsoft_QLinearSigmoid, &Convert<QLinearSigmoid>);
REGISTER_CONVERTER(onnx, com_microsoft_QLinearLeakyRelu, &Convert<QLinearLeakyRelu>);
REGISTER_CONVERTER(onnx, com_microsoft_QLinearSoftmax, &Convert<QLinearSoftmax>);
REGISTER_CONVERTER(onnx, com_microsoft_QLinearConcat, &Convert<QLinearConcat>);
REGISTER_CONVERTER(onnx, com_microsoft_QLinearWhere, &Convert<QLinearWhere>);
REGISTER_CONVERTER(onnx, com_microsoft_QLinearReduceMean, &Convert<QLinearReduceMean>);
REGISTER_CONVERTER(onnx, com_microsoft_QLinearAveragePool, &Convert<QLinearAveragePool>);
REGISTER_CONVERTER(onnx, com_microsoft_QLinearGlobalAveragePool, &Convert<QLinearGlobalAveragePool>);
REGISTER_CONVERTER(onnx, com_microsoft_QLinearConv, &Convert<QLinearConv>);
REGISTER_CONVERTER(onnx, com_microsoft_MatMulIntegerToFloat, &Convert<MatMulIntegerToFloat>);
REGISTER_CONVERTER(onnx, com_microsoft_DynamicQuantizeMatMul, &Convert<DynamicQuantizeMatMul>);
REGISTER_CONVERTER(onnx, com_microsoft_QAttention, &Convert<QAttention>);
REGISTER_CONVERTER(onnx, com_microsoft_QGemm, &Convert<QGemm>);

}  // namespace wherry::onnx
