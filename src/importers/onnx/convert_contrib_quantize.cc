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

// Elements of `bits` (a divisor of 8) in bytes [..., m], from the low ones up, as u8 [..., m * 8 / bits].
std::string Unpacked(OnnxContext& c, const std::string& bytes, int64_t bits) {
  if (bits == 8) return bytes;
  const auto byte = [&](int64_t value) { return c.ConstantScalar(Scalar(value), DataType::kUInt8); };
  std::vector<std::string> parts;
  for (int64_t shift = 0; shift < 8; shift += bits) {
    const std::string moved = shift == 0 ? bytes : c.Binary("bitwise_right_shift", bytes, byte(shift));
    parts.push_back(c.Binary("bitwise_and", moved, byte((int64_t{1} << bits) - 1)));
  }
  const std::string apart = c.Emit("stack", {{"x", parts}}, {{"axis", int64_t{-1}}});
  const int64_t rank = c.Rank(apart);
  return c.Emit("flatten", {{"x", {apart}}}, {{"start_axis", rank - 2}, {"stop_axis", rank - 1}});
}

int64_t BitsOf(OnnxContext& c) {
  const auto bits = c.Attr<int64_t>("bits", 4);
  if (bits != 2 && bits != 4 && bits != 8) c.Unsupported("attribute bits is ", bits);
  return bits;
}

// x with `count` columns of those that there are.
std::string FirstColumns(OnnxContext& c, const std::string& x, int64_t count) {
  return c.Rank(x) > 0 && c.Meta(x).dims.back() == Dim(count) ? x : Columns(c, x, 0, count);
}

// A weight [n, k] in blocks of `block_size` along k, each with a scale and a zero point (by default half the range).
// Zero points are packed as the weight is, or are of the scales' type. g_idx: the block of each column's scale.
void MatMulNBits(OnnxContext& c) {
  const auto k = c.Attr<int64_t>("K");
  const auto n = c.Attr<int64_t>("N");
  const int64_t bits = BitsOf(c);
  const auto block = c.Attr<int64_t>("block_size");
  if (k < 1 || n < 1 || block < 1) c.Corrupt("K is ", k, ", N ", n, ", block_size ", block);
  if (c.Attr<int64_t>("weight_prepacked", 0) != 0) c.Unsupported("attribute weight_prepacked is not 0");
  const std::string x = c.Input(0);
  const DataType dtype = c.TypeOf(x);
  const int64_t blocks = (k - 1) / block + 1;
  const std::string elements = FirstColumns(c, c.Reshaped(Unpacked(c, c.Input(1), bits), {n, -1}), k);
  std::string scales = c.Reshaped(c.Input(2), {n, blocks});
  const bool packed = c.HasInput(3) && c.TypeOf(c.Input(3)) == DataType::kUInt8;
  std::string zeros;
  if (packed) {
    zeros = FirstColumns(c, Unpacked(c, c.Reshaped(c.Input(3), {n, -1}), bits), blocks);
  } else if (c.HasInput(3)) {
    zeros = c.Reshaped(c.Input(3), {n, blocks});
  } else {
    zeros = c.Emit("full_like", {{"x", {scales}}},
                   {{"value", Scalar(int64_t{1} << (bits - 1))}, {"dtype", DataType::kUInt8}});
  }
  std::string weight;
  if (c.TypeOf(zeros) == DataType::kUInt8 && !c.HasInput(4)) {
    weight = c.Emit("dequantize_linear", {{"x", {elements}}, {"scale", {scales}}, {"zero_point", {zeros}}},
                    {{"axis", int64_t{1}}, {"block_size", block}, {"dtype", dtype}});
  } else {
    std::string places = c.OptionalInput(4);
    if (places.empty()) {
      std::vector<int64_t> numbers;
      for (int64_t i = 0; i < k; ++i) numbers.push_back(i / block);
      places = c.ConvertContext::ConstantInts(numbers);
    } else {
      places = FirstColumns(c, places, k);
    }
    const auto spread = [&](const std::string& value) {
      return c.Cast(c.Emit("gather", {{"x", {value}}, {"index", {places}}}, {{"axis", int64_t{1}}}), dtype);
    };
    weight = c.Binary("multiply", c.Binary("subtract", c.Cast(elements, dtype), spread(zeros)), spread(scales));
  }
  const std::string y = c.Emit("matmul", {{"x", {x}}, {"y", {weight}}}, {{"transpose_y", true}});
  c.Bind(0, Sum(c, y, c.OptionalInput(5)));
}

// Rows of a table in blocks along one axis, each with a scale and perhaps a zero point; those of u8 are packed.
void GatherBlockQuantized(OnnxContext& c) {
  std::string table = c.Input(0);
  const std::string scales = c.Input(2);
  std::string zeros = c.OptionalInput(3);
  const int rank = c.Rank(table);
  const int64_t axis = c.Axis(c.Attr<int64_t>("quantize_axis", 1), rank);
  const auto block = c.Attr<int64_t>("block_size", 128);
  if (IsFloating(c.TypeOf(table))) c.Unsupported("a table of type ", ToString(c.TypeOf(table)));
  if (block < 1) c.Corrupt("attribute block_size is ", block);
  if (c.TypeOf(table) == DataType::kUInt8) {
    const int64_t bits = BitsOf(c);
    table = Unpacked(c, table, bits);
    if (zeros.empty()) {
      zeros = c.Emit("full_like", {{"x", {scales}}},
                     {{"value", Scalar(int64_t{1} << (bits - 1))}, {"dtype", DataType::kUInt8}});
    } else {
      const int64_t columns = KnownDim(c, scales, static_cast<size_t>(rank) - 1, "the number of scales");
      zeros = FirstColumns(c, Unpacked(c, zeros, bits), columns);
    }
  }
  const std::string numbers = c.Emit(
      "dequantize_linear", {{"x", {Widened(c, table)}}, {"scale", {scales}}, {"zero_point", {Widened(c, zeros)}}},
      {{"axis", axis}, {"block_size", block}, {"dtype", c.TypeOf(scales)}});
  c.EmitResult("gather", {{"x", {numbers}}, {"index", {c.Input(1)}}},
               {{"axis", c.Axis(c.Attr<int64_t>("gather_axis", 0), rank)}});
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
REGISTER_CONVERTER(onnx, com_microsoft_MatMulNBits, &Convert<MatMulNBits>);
REGISTER_CONVERTER(onnx, com_microsoft_GatherBlockQuantized, &Convert<GatherBlockQuantized>);

}  // namespace wherry::onnx
